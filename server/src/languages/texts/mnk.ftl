# What payers read, in Mandinka. docs/languages.md says how to correct a text or add a language.
# The name before = stays as it is, and so does everything in { } and the marks <b> and </b>.
# “# unchecked”: no native speaker has checked the text below it. Delete that line when the text is right.

# unchecked
language-name = Mandinka

## Every page

# unchecked
languages = Kaŋo
# unchecked
test-mode = <b>Test</b>: kodoo te bo la i bulu
# unchecked
months = Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec
# { $days } is 2 or more.
# unchecked
days = tili { $days }
# unchecked
amount = Kodoo
# unchecked
fee = Caajoo
# unchecked
total = A bee
# unchecked
counter = Kontaroo { $counter }
# unchecked
ask-shop = Butikoo ñininkaa: { $contact }

## Paying: what and until when

# unchecked
pay-merchant = { $merchant } joo
# unchecked
pay-amount = { $amount } joo
# unchecked
the-payment = Joo
# unchecked
pay-by = A joo janniŋ { $time }
# { $left } is a duration such as 29 min.
# unchecked
time-left = { $left } tuta

## The name of each state, in the browser’s tab and read aloud when the page changes

# unchecked
state-choose = Joo
# unchecked
state-starting = A be dati kaŋ
# unchecked
state-waiting = Ntolu be i batu kaŋ
# unchecked
state-code = Code safee
# unchecked
state-asking = Ì be a juubee kaŋ, kana joo kotenke
# unchecked
state-review = Moo be a juubee kaŋ
# unchecked
state-paid = A joota
# unchecked
state-partly-refunded = A doo murundita
# unchecked
state-refunded = A murundita
# unchecked
state-reversed = Netwokoo ye a taa
# unchecked
state-failed = A maŋ joo
# unchecked
state-cancelled = A kanselita
# unchecked
state-expired = Waatoo banta
# In the tab: “Paid: D450.00 · Kairaba Bookshop”.
# unchecked
tab = { $state }: { $amount } · { $merchant }

## Choosing the network

# unchecked
choose-network = I lafita a joo la ñaadii?
# unchecked
choose-one = A joo { $network } la
# unchecked
your-number = I la mobile money namboroo
# unchecked
number-example = Ko 301 2345 waraŋ +220 83 301 2345.
# unchecked
number-not-for = A te { $networks } ye.
# unchecked
number-last = Siiñaa labaŋo: { $number }.
# unchecked
likely = Tumandoo i ta le mu
# unchecked
try-again = A kata kotenke
# unchecked
tries-left = I maŋ joo. Siiñaa { $tries } tuta.
# unchecked
tries-left-open = Niŋ i sonta ñininkaari kotoo la, wo mu joo leti hani saayiŋ: batu, kana joo kotenke. Siiñaa { $tries } tuta.
# unchecked
no-network = Netwok te ñiŋ joo muta la saayiŋ
# unchecked
no-network-text = A kata kotenke miniti dantaŋ kooma, waraŋ i ye butikoo ñininkaa joo sila doo la.
# { $prompts } names networks and numbers, such as “Afrimoney 701 2345”.
# unchecked
still-open = <b>Kana soŋ ñininkaari kotoo la</b> ({ $prompts }). Niŋ i sonta ì fula bee la, i be joo la siiñaa fula.
# unchecked
cancel-payment = Ñiŋ joo kanseli

## Errors beside the fields

# unchecked
network-missing = Netwokoo tomboŋ.
# unchecked
network-refused = Ñiŋ netwokoo te ñiŋ joo muta noo. Doo tomboŋ.
# unchecked
number-missing = I la { $network } namboroo safee.
# unchecked
number-invalid = Namboroo juubee: a mu dijiti 7 waraŋ 9 leti, ko 701 2345.
# unchecked
number-busy = Ñiŋ namboroo ñininkaata saayiŋ. A jaabi telefonoo kaŋ, waraŋ a kata kooma.
# unchecked
code-length = Code mu dijiti { $digits } leti. A bee safee.
# unchecked
code-wrong = Ñiŋ code maŋ tiliŋ. Siiñaa { $tries } tuta.
# unchecked
code-wrong-again = Ñiŋ code maŋ tiliŋ. I ye a kata kotenke.
# unchecked
id-form = Ñiŋ maŋ ke transaction id ti. A safee ka bo network la kibaaroo to.
# unchecked
id-wrong = Ñiŋ id maŋ tiliŋ. Siiñaa { $tries } tuta.
# unchecked
too-many-tries = Katoo siyaata. Miniti kiliŋ batu, i ye a kata kotenke.
# unchecked
not-accepted = Ñiŋ maŋ muta. I ye meŋ safee, wo juubee.

## Why an attempt failed

# unchecked
failed-declined = I balanta a la.
# unchecked
failed-funds = Kodoo maŋ kaañaŋ i la { $network } woletoo kono.
# unchecked
failed-limit = Kodoo ye i la { $network } woletoo limitoo tambi.
# unchecked
failed-no-account = { $network } woleti te ñiŋ namboroo kaŋ.
# unchecked
failed-blocked = I la { $network } woletoo soronta. { $network } ñininkaa.
# unchecked
failed-code = Code maŋ tiliŋ siiñaa jamaa.
# unchecked
failed-expired = I maŋ soŋ a la waatoo kono.
# unchecked
failed-cancelled = A kanselita janniŋ i be soŋ na.
# unchecked
failed-network = { $network } te joo muta la saayiŋ.
# unchecked
failed-no-reason = { $network } maŋ joo muta, a maŋ a daliiloo fo.
# unchecked
failed-returned = I ye kodoo meŋ kii, wo niŋ ñininkaaroo te kiliŋ ti. { $network } ye a murundi i ma.
# unchecked
failed-not-paid = Kodi maŋ futa ka bo i bulu.

## Waiting for the network or the payer

# unchecked
starting = I la joo be dati kaŋ
# unchecked
starting-text = Ntolu be { $network } ñininkaa kaŋ. A te mee la.
# unchecked
waiting-for = Ntolu be { $network } batu kaŋ
# unchecked
waiting-for-you = Ntolu be i batu kaŋ
# unchecked
check-again = A juubee kotenke
# unchecked
asking = Ntolu be { $network } ñininkaa kaŋ
# unchecked
asking-text = Ntolu be { $network } ñininkaa kaŋ fo i la joo futata. <b>Kana joo kotenke.</b>
# unchecked
asking-leave = A si miniti dantaŋ taa noo. I si ñiŋ peejoo tawu noo: butikoo be a loŋ na, aduŋ niŋ i murunta naŋ, i be a je la jaŋ.
# unchecked
change-only-if = Niŋ ñininkaaroo maŋ naa i la telefonoo to doroŋ:
# unchecked
approve-phone = Soŋ i la telefonoo kaŋ
# unchecked
approve-1 = I la telefonoo juubee: { $network } be i ñininkaa la i ye { $amount } joo.
# unchecked
approve-1-number = Telefonoo { $number } juubee: { $network } be i ñininkaa la i ye { $amount } joo.
# unchecked
approve-2 = Kodoo juubee. I la PIN safee telefonoo kaŋ, kana a safee ñiŋ peejoo kaŋ muk.
# unchecked
approve-3 = Ñiŋ peejoo be taa la ñaato a faŋo la.
# unchecked
approve-3-confirm = Muruŋ naŋ jaŋ, i ye butoŋo maa.
# unchecked
approved = N sonta
# unchecked
approved-not-seen = { $network } maŋ a je foloo ko i sonta. Niŋ i sonta, domandiŋ batu, i ye butoŋo maa kotenke.
# unchecked
approve-in = Soŋ { $network } kono
# unchecked
approve-in-text = { $network } be yele la, { $amount } be a kono. Soŋ a la jee, i ye muruŋ naŋ.
# unchecked
open-network = { $network } yele
# unchecked
scan-other = Waraŋ i ye a scan telefonoo la meŋ ye { $network } soto
# unchecked
scan-code = QR code meŋ ka ñiŋ joo yele { $network } kono
# unchecked
enter-code = Code safee
# unchecked
code-sent = { $network } ye code kii, dijiti { $digits }.
# unchecked
code-sent-to = { $network } ye code kii { $number } ma, dijiti { $digits }.
# unchecked
code-field = Code meŋ be mesejoo kono
# unchecked
code-hint = Kana i la PIN safee jaŋ muk.
# unchecked
confirm-payment = Soŋ joo la
# unchecked
send-heading = { $amount } kii, wo koolaa ID safee
# unchecked
send-1 = { $network } kono, { $amount } <b>dorooŋ</b> kii ñiŋ nimberoo ma:
# unchecked
send-number = Nimberoo
# unchecked
send-name = Too
# unchecked
copy = Kopi
# unchecked
send-2 = { $network } be mesejoo kii la i ma. ID ñinii a kono.
# unchecked
send-where = ID be mintoo le?
# unchecked
send-where-text = { $network } la mesejoo labaŋo yele. ID be “Transaction ID” waraŋ “ID” koolaa. Letaroolu niŋ dijitoolu leti, kodoo nte, telefoŋ nimberoo nte.
# unchecked
send-3 = ID safee jaŋ. Butikoo be i la joo soto la niŋ ID niŋ kodoo tiliŋta.
# unchecked
send-field = ID meŋ be i la mesejoo kono
# unchecked
send-button = Ŋa kii le
# unchecked
send-not-again = Niŋ i ye kodoo kii le, <b>kana a kii kotenke</b>.
# unchecked
typed-heading = Ntolu be i la joo ñini kaŋ
# unchecked
typed-message = Ŋa i la ID soto le, ntolu be { $network } la mesejoo batu kaŋ butikoo ye. <b>Kana kii kotenke.</b>
# unchecked
typed-statement = Ntolu be { $network } la kayitoo batu kaŋ, kaatu kodoo siyaata. <b>Kana kii kotenke.</b>
# unchecked
typed-check = Ñiŋ ID safeeta joo doo fanaŋ ye. Moo be a juubee kaŋ. <b>Kana kii kotenke.</b>
# unchecked
typed-id = I ye { $id } safee.
# unchecked
typed-correct = Fo ID maŋ tiliŋ?
# unchecked
typed-leave = I si ñiŋ page soro noo, i naa kotenke wo link kaŋ.
# unchecked
send-closed = Ñiŋ formoo sorota
# unchecked
send-closed-text = ID luulu maŋ tiliŋ. Niŋ i ye kodoo kii le, <b>kana a kii kotenke</b>.
# unchecked
send-closed-next = { $network } la mesejoo yitandi { $merchant } la. Butikoo si i la joo je noo a la.
# unchecked
send-closed-reference = Ñiŋ referensoo fo butikoo ye:
# unchecked
nothing-arrived = Feŋ maŋ naa?
# unchecked
nothing-1 = Namboroo juubee: { $number }. Fo a tilinta?
# unchecked
nothing-2 = Fo telefonoo malata, signaloo be jee?
# unchecked
nothing-dial = { $code } safee wo telefonoo kaŋ, i ye soŋ joo la jee.
# unchecked
nothing-3 = Feŋ maŋ naa hani saayiŋ? Namboroo waraŋ netwokoo faliŋ.
# unchecked
change = Namboroo waraŋ netwokoo faliŋ
# unchecked
simulated-phone = Test telefonoo yele

## Cancelling

# unchecked
cancel-question = Fo i be ñiŋ joo kanseli la?
# unchecked
cancel-nothing-paid = I maŋ joo. Niŋ i ye a kanseli, i be joo kutoo ñini la butikoo bulu.
# unchecked
cancel-if-open = A kanseli doroŋ niŋ i maŋ soŋ. Niŋ i sonta joo meŋ na, wo mu joo leti hani saayiŋ.
# unchecked
cancel-no = Hanii, n be joo la
# unchecked
cancel-yes = Haa, a kanseli

## The end

# unchecked
not-paid = I maŋ joo
# unchecked
no-tries = I te a kata noo kotenke. { $merchant } ñininkaa joo kutoo la.
# unchecked
cancelled = Ñiŋ joo kanselita
# unchecked
nothing-paid = I maŋ joo.
# unchecked
expired = Joo waatoo banta
# unchecked
expired-text = Ñiŋ joo waatoo banta { $time }.
# unchecked
expired-ask = I maŋ joo. { $merchant } ñininkaa joo kutoo la.
# unchecked
late-approval = Niŋ i sonta a la { $network } kono, wo mu joo leti hani saayiŋ: ntolu be { $network } ñininkaa kaŋ, ñiŋ peejoo be a yitandi la. <b>Kana joo kotenke janniŋ i be a loŋ na.</b>
# unchecked
review = Moo be i la joo juubee kaŋ
# unchecked
review-text = Kodoo meŋ naata, wo niŋ ñininkaaroo te kiliŋ ti. Butikoo ye a loŋ. <b>Kana joo kotenke.</b>
# unchecked
review-keep = { $merchant } be a muta la waraŋ a be a murundi la. Referensoo mara.
# unchecked
asked-for = Ñininkaata
# unchecked
arrived = Naata
# unchecked
reference = Referensoo
# unchecked
close-page = I si ñiŋ peejoo tawu noo.
# unchecked
back-to = Muruŋ { $merchant } yaa
# unchecked
back-at = I si ñiŋ peejoo tawu noo, waraŋ i ye muruŋ { $merchant } yaa ñiŋ adiresoo la:

## The receipt

# unchecked
receipt = Risiitoo
# unchecked
paid = A JOOTA
# unchecked
paid-to = { $merchant } joota
# { $since } is a duration such as 12 s.
# unchecked
paid-since = a ye { $since } ke
# unchecked
short-code = Code { $code }
# unchecked
refunded = A murundita
# unchecked
refunded-text = { $merchant } ye ñiŋ kodoo murundi i ma.
# unchecked
partly-returned = A doo murundita
# unchecked
partly-refunded-text = { $merchant } ye { $amount } murundi i ma ñiŋ joo kono.
# unchecked
taken-back = Netwokoo ye a taa
# unchecked
taken-back-text = { $network } ye ñiŋ kodoo bondi butikoo bulu. { $merchant } ñininkaa janniŋ i be joo la kotenke.
# unchecked
partly-taken-back-text = { $network } ye { $amount } bondi ñiŋ joo kono.
# unchecked
line-to = Mutalaa
# unchecked
line-for = Daliiloo
# unchecked
line-from = A bota
# unchecked
line-time = Waatoo
# unchecked
issued-by = { $merchant } le ye a bondi niŋ Dalasi.
# unchecked
verify-at = A juubee fo a mu toñaa leti:
# unchecked
print = Pirinti waraŋ mara
# unchecked
share = Risiitoo kii
# unchecked
share-whatsapp = A kii WhatsApp kaŋ
# The message that is shared; the address follows.
# unchecked
share-text = Risiitoo: { $amount }, { $merchant }

## Links and counters

# unchecked
choose-next = Peeji naatoo kaŋ i be joo siloo tomboŋ na.
# unchecked
go-on = Taa ñaato
# unchecked
amount-example = Dalasi la, ko 450.
# unchecked
amount-min = Dalasi la, a kana dooyaa { $amount } ti.
# unchecked
amount-missing = Kodoo safee.
# unchecked
amount-digits = Kodoo safee dijitoolu la, ko 450 waraŋ 450.50.
# unchecked
amount-zero = Kodoo safee meŋ siyaata 0 ti.
# unchecked
amount-too-small = A kana dooyaa { $amount } ti.
# unchecked
amount-too-large = A kana siyaa { $amount } ti.
# unchecked
amount-not-taken = Ñiŋ kodoo te joo noo jaŋ. Doo kata.
# unchecked
amount-whole = Dalasi timmariŋo doroŋ, ko 450.
# unchecked
amount-changed = Butikoo ye kodoo faliŋ. A juubee, i ye joo.
# unchecked
fields-changed = Butikoo ye a la ñininkaaroolu faliŋ. I ye i safee kotenke.
# unchecked
fee-percent = Caajoo { $percent } be laa la a kaŋ, fo dalasi timmariŋ.
# unchecked
fee-percent-fixed = Caajoo { $percent } niŋ { $fixed } be laa la a kaŋ, fo dalasi timmariŋ.
# unchecked
fee-fixed = Caajoo { $fixed } be laa la a kaŋ.
# unchecked
fee-fixed-rounded = Caajoo { $fixed } be laa la a kaŋ, fo dalasi timmariŋ.
# unchecked
fee-minimum = A kana dooyaa { $amount } ti.
# unchecked
fee-maximum = Caajoo kana siyaa { $amount } ti.
# unchecked
optional = niŋ i lafita
# unchecked
answer-too-long = A jaŋayaata baake. A sutuyandi.
# unchecked
shop-cannot = Butikoo te ñiŋ joo muta noo saayiŋ. A fo butikoo ye.
# unchecked
busy-here = Moo jamaa be joo kaŋ jaŋ saayiŋ. Sekondi dantaŋ batu, i ye a kata kotenke.
# unchecked
is-this-it = Fo i be ñiŋ dulaa le to?
# unchecked
is-this-it-text = I ye code safee, bari i maŋ a letaroolu safee. Taa ñaato doroŋ niŋ butikoo niŋ kontaroo tilinta.
# unchecked
is-this-it-yes = Haa, a tilinta
# unchecked
is-this-it-no = Niŋ a maŋ tiliŋ, dookuulaalu ñininkaa. I maŋ joo.
# unchecked
code-page = Joo kontaroo to
# unchecked
code-page-field = Code meŋ be posteroo kaŋ
# unchecked
code-page-hint = Dijiti 7 mennu be QR code koto, ko 744 4407.
# unchecked
code-page-unknown = Kontari maŋ ñiŋ code soto. A juubee posteroo kaŋ.
# unchecked
link-inactive = Ñiŋ linkoo tawuta
# unchecked
link-inactive-text = { $merchant } ye ñiŋ linkoo tawu. I maŋ joo. Butikoo ñininkaa fo a be yele la kotenke.
# unchecked
link-deleted = Ñiŋ linkoo bondita
# unchecked
link-deleted-text = { $merchant } ye ñiŋ linkoo bondi. I maŋ joo. Linki kutoo ñini butikoo bulu.
# unchecked
counter-closed = Ñiŋ kontaroo tawuta
# unchecked
counter-closed-text = { $merchant } te joo muta la ñiŋ kontaroo to saayiŋ. I maŋ joo. Dookuulaalu ñininkaa.
# unchecked
counter-deleted-text = { $merchant } maŋ ñiŋ kontaroo soto kotenke. I maŋ joo. Dookuulaalu ñininkaa doo la.
# unchecked
not-connected = A maŋ yele foloo
# unchecked
not-connected-text = { $merchant } te mobile money muta noo jaŋ foloo. I maŋ joo. Butikoo ñininkaa joo sila doo la.

## Pages of errors

# unchecked
open-again = Peejoo yele kotenke
# unchecked
request-id = Ñininkaaroo { $id }
# unchecked
error-form = Ñiŋ foomoo maŋ bo ntolu la peejoo to
# unchecked
error-form-text = Feŋ maŋ ke. Peejoo yele kotenke, i ye a butoŋolu maa.
# unchecked
error-not-found = Peejoo maŋ je
# unchecked
error-not-found-text = Feŋ maŋ joo jaŋ. Adiresoo juubee, waraŋ i ye linki kutoo ñini.
# unchecked
error-method = Ñiŋ peejoo te wo ke noo
# unchecked
error-method-text = Feŋ maŋ ke. Peejoo yele kotenke, i ye a butoŋolu maa.
# unchecked
error-too-many = Ñininkaaroo siyaata
# unchecked
error-too-many-text = Feŋ maŋ ke. Miniti kiliŋ batu, i ye a kata kotenke. Niŋ i ye kontari code le safee, a la QR code scan.
# unchecked
error-too-long = Adiresoo jaŋayaata baake
# unchecked
error-too-long-text = Feŋ maŋ joo jaŋ. Adiresoo juubee, waraŋ i ye linki kutoo ñini.
# unchecked
error-unavailable = Serwisoo te dookuwo la saayiŋ
# unchecked
error-unavailable-text = I ye kodoo meŋ joo, a maŋ fili. Peejoo yele kotenke, i be a je la. <b>Kana joo kotenke janniŋ i be a je la.</b>
# unchecked
error-ours = Kuu doo filita
# unchecked
error-ours-text = Ntolu le filita. I ye kodoo meŋ joo, a maŋ fili. Peejoo yele kotenke, a je janniŋ i be joo la kotenke.
# unchecked
error-unread = Foomoo maŋ karaŋ noo
# unchecked
error-unread-text = Feŋ maŋ ke. Peejoo yele kotenke, i ye a kata kotenke.

## Posters

# unchecked
poster-scan = Scan ka joo
# unchecked
poster-code = Code
# unchecked
poster-pay-with = Joo siloolu
# unchecked
poster-no-camera = Kamera te i bulu? Ñiŋ adiresoo yele i la telefonoo kaŋ:
# unchecked
poster-test = Test posteroo: a te kodoo taa la
