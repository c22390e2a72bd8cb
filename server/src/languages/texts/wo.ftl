# What payers read, in Wolof. docs/languages.md says how to correct a text or add a language.
# The name before = stays as it is, and so does everything in { } and the marks <b> and </b>.
# “# unchecked”: no native speaker has checked the text below it. Delete that line when the text is right.

# unchecked
language-name = Wolof

## Every page

# unchecked
languages = Làkk
# unchecked
test-mode = <b>Test</b>: xaalis dëgg du dem
# unchecked
months = Sam Few Mar Awr Mee Suw Sul Ut Sàt Okt Now Des
# { $days } is 2 or more.
# unchecked
days = { $days } fan
# unchecked
amount = Xaalis
# unchecked
fee = Frais
# unchecked
total = Lépp
# unchecked
counter = Kontar { $counter }
# unchecked
ask-shop = Laajal bitik bi: { $contact }

## Paying: what and until when

# unchecked
pay-merchant = Fey { $merchant }
# unchecked
pay-amount = Fey { $amount }
# unchecked
the-payment = Fey bi
# unchecked
pay-by = Feyal bala { $time }
# { $left } is a duration such as 29 min.
# unchecked
time-left = { $left } a des

## The name of each state, in the browser’s tab and read aloud when the page changes

# unchecked
state-choose = Fey
# unchecked
state-starting = Mu ngi tàmbali
# unchecked
state-waiting = Ñu ngi lay xaar
# unchecked
state-code = Bindal kod bi
# unchecked
state-asking = Ñu ngi seet, bul feyaat
# unchecked
state-review = Ñu ngi koy xool
# unchecked
state-paid = Feyees na
# unchecked
state-partly-refunded = Delloo nañu ci lenn
# unchecked
state-refunded = Delloo nañu ko
# unchecked
state-reversed = Jëlaat nañu ko
# unchecked
state-failed = Feyeesul
# unchecked
state-cancelled = Fomm nañu ko
# unchecked
state-expired = Waxtu wi jeex na
# In the tab: “Paid: D450.00 · Kairaba Bookshop”.
# unchecked
tab = { $state }: { $amount } · { $merchant }

## Choosing the network

# unchecked
choose-network = Naka nga bëgga feye?
# unchecked
choose-one = Feye { $network }
# unchecked
your-number = Sa nimero mobile money
# unchecked
number-example = Lu mel ni 301 2345 walla +220 83 301 2345.
# unchecked
number-not-for = Du ngir { $networks }.
# unchecked
number-last = Yoon wu mujj: { $number }.
# unchecked
likely = Amaana sa bos la
# unchecked
try-again = Jéemaatal
# unchecked
tries-left = Feyuloo. Des na la { $tries } yoon.
# unchecked
tries-left-open = Soo nangoo woon laaj bu jëkk ba, fey la ba tey: xaaral, te bul feyaat. Des na la { $tries } yoon.
# unchecked
no-network = Amul network bu nangu fey bii léegi
# unchecked
no-network-text = Jéemaatal ci ay minit, walla nga laaj bitik bi neneen nu ñuy feye.
# { $prompts } names networks and numbers, such as “Afrimoney 701 2345”.
# unchecked
still-open = <b>Bul nangu laaj bu jëkk ba</b> ({ $prompts }). Soo nangoo ñaar yépp, dinga fey ñaari yoon.
# unchecked
cancel-payment = Fomm fey bii

## Errors beside the fields

# unchecked
network-missing = Tannal benn network.
# unchecked
network-refused = Network bii mënul nangu fey bii. Tannal beneen.
# unchecked
number-missing = Bindal sa nimero { $network }.
# unchecked
number-invalid = Xoolal nimero bi: 7 walla 9 lim la, lu mel ni 701 2345.
# unchecked
number-busy = Laaj nañu nimero bii léegi. Tontul ci telefon bi, walla nga jéemaat ci kanam.
# unchecked
code-length = Kod bi { $digits } lim la. Bindal lépp.
# unchecked
code-wrong = Kod bii baaxul. Des na la { $tries } yoon.
# unchecked
code-wrong-again = Kod bii baaxul. Jéemaatal.
# unchecked
id-form = Lii du transaction id. Bindal li nekk ci mesaasu network bi.
# unchecked
id-wrong = Id bii baaxul. Des na la { $tries } yoon.
# unchecked
too-many-tries = Jéem nga lu bari. Xaaral benn minit, te nga jéemaat.
# unchecked
not-accepted = Nanguwuñu lii. Xoolal li nga bind.

## Why an attempt failed

# unchecked
failed-declined = Bañ nga ko.
# unchecked
failed-funds = Xaalis bi doyul ci sa wallet { $network }.
# unchecked
failed-limit = Xaalis bi ëpp na li sa wallet { $network } mën.
# unchecked
failed-no-account = Nimero bii amul wallet { $network }.
# unchecked
failed-blocked = Sa wallet { $network } dañu ko tëj. Laajal { $network }.
# unchecked
failed-code = Juum nga ci kod bi ay yoon yu bari.
# unchecked
failed-expired = Nanguwuloo ko ci waxtu wi.
# unchecked
failed-cancelled = Fomm nañu ko bala nga koy nangu.
# unchecked
failed-network = { $network } du nangu fey léegi.
# unchecked
failed-no-reason = { $network } nanguwul fey bi te waxul lu tax.
# unchecked
failed-returned = Li nga yónnee du li ñu laaj. { $network } delloo na la ko.
# unchecked
failed-not-paid = Amul xaalis bu jóge ci yaw.

## Waiting for the network or the payer

# unchecked
starting = Fey baa ngi tàmbali
# unchecked
starting-text = Ñu ngi laaj { $network }. Ay segond rekk la.
# unchecked
waiting-for = Ñu ngi xaar { $network }
# unchecked
waiting-for-you = Ñu ngi lay xaar
# unchecked
check-again = Xoolaatal
# unchecked
asking = Ñu ngi laaj { $network }
# unchecked
asking-text = Ñu ngi laaj { $network } ndax fey nga. <b>Bul feyaat.</b>
# unchecked
asking-leave = Mën na def ay minit. Mën nga tëj page bii: dinañu ko wax bitik bi, te soo ñëwaatee dinga ko gis fii.
# unchecked
change-only-if = Su laaj yeggul ci sa telefon rekk:
# unchecked
approve-phone = Nangul ci sa telefon
# unchecked
approve-1 = Xoolal sa telefon: { $network } dina la laaj nga fey { $amount }.
# unchecked
approve-1-number = Xoolal telefon bi { $number }: { $network } dina la laaj nga fey { $amount }.
# unchecked
approve-2 = Xoolal xaalis bi. Bindal sa PIN ci telefon bi, bul ko bind mukk ci page bii.
# unchecked
approve-3 = Page bii dina wéy moom rekk.
# unchecked
approve-3-confirm = Ñëwaatal fii te nga bës buton bi.
# unchecked
approved = Nangu naa
# unchecked
approved-not-seen = { $network } gisagul ni nangu nga. Soo nangoo ba noppi, xaaral tuuti te nga bësaat buton bi.
# unchecked
approve-in = Nangul ci { $network }
# unchecked
approve-in-text = { $network } dina ubbiku ak { $amount } ci biir. Nangul fa, te nga ñëwaat.
# unchecked
open-network = Ubbil { $network }
# unchecked
scan-other = Walla nga scan ko ak telefon bi am { $network }
# unchecked
scan-code = QR kod buy ubbi fey bii ci { $network }
# unchecked
enter-code = Bindal kod bi
# unchecked
code-sent = { $network } yónnee na kod bu am { $digits } lim.
# unchecked
code-sent-to = { $network } yónnee na kod bu am { $digits } lim ci { $number }.
# unchecked
code-field = Kod bi ci mesaas bi
# unchecked
code-hint = Bul fi bind sa PIN mukk.
# unchecked
confirm-payment = Dëggal fey bi
# unchecked
send-heading = Yónneel { $amount }, ba noppi bind ID bi
# unchecked
send-1 = Ci { $network }, yónneel { $amount } <b>rekk</b> ci nimero bii:
# unchecked
send-number = Nimero
# unchecked
send-name = Tur
# unchecked
copy = Kopee
# unchecked
send-2 = { $network } dina la yónnee mesaas. Seetal ID bi ci biir.
# unchecked
send-where = Fan la ID bi nekk?
# unchecked
send-where-text = Ubbil mesaas bu mujj bi { $network } yónnee. ID bi mi ngi ci ginnaaw “Transaction ID” walla “ID”. Araf ak lim la, du xaalis bi, du nimero telefon.
# unchecked
send-3 = Bindal ID bi fii. Bitik bi dina am sa fey su ID bi ak xaalis bi baaxee.
# unchecked
send-field = ID bi ci sa mesaas
# unchecked
send-button = Yónnee naa ko
# unchecked
send-not-again = Su fekkee yónnee nga xaalis bi, <b>bul ko yónneewaat</b>.
# unchecked
typed-heading = Ñu ngi seet sa fey
# unchecked
typed-message = Am nanu sa ID, ñu ngi xaar mesaas bi { $network } di yónnee bitik bi. <b>Bul yónneewaat.</b>
# unchecked
typed-statement = Ñu ngi xaar kayitu { $network }, ndax xaalis bi bare na. <b>Bul yónneewaat.</b>
# unchecked
typed-check = ID bii bind nañu ko ci beneen fey. Nit a ngi koy xool. <b>Bul yónneewaat.</b>
# unchecked
typed-id = Bind nga { $id }.
# unchecked
typed-correct = ID bi baaxul?
# unchecked
typed-leave = Mën nga tëj xët wii, delusi ci lien bi.
# unchecked
send-closed = Tëj nañu form bii
# unchecked
send-closed-text = Juróomi ID baaxuñu. Su fekkee yónnee nga xaalis bi, <b>bul ko yónneewaat</b>.
# unchecked
send-closed-next = Wonal { $merchant } mesaas bi { $network } yónnee. Bitik bi mën na ci gis sa fey.
# unchecked
send-closed-reference = Waxal bitik bi referans bii:
# unchecked
nothing-arrived = Dara ñëwul?
# unchecked
nothing-1 = Xoolal nimero bi: { $number }. Ndax moom la?
# unchecked
nothing-2 = Ndax telefon bi tàkk na te am signal?
# unchecked
nothing-dial = Bësal { $code } ci telefon boobu te nga nangu fey bi fa.
# unchecked
nothing-3 = Ba léegi dara? Soppil nimero bi walla network bi.
# unchecked
change = Soppi nimero walla network
# unchecked
simulated-phone = Ubbil telefonu test bi

## Cancelling

# unchecked
cancel-question = Fomm fey bii?
# unchecked
cancel-nothing-paid = Feyuloo. Soo ko fommee, dinga soxla beneen fey ci bitik bi.
# unchecked
cancel-if-open = Fommal ko su fekkee nanguwuloo rekk. Fey bu nga nangu, fey la ba tey.
# unchecked
cancel-no = Déedéet, dinaa fey
# unchecked
cancel-yes = Waaw, fomm ko

## The end

# unchecked
not-paid = Feyuloo
# unchecked
no-tries = Mënatuloo jéem. Laajal { $merchant } beneen fey.
# unchecked
cancelled = Fey bii, fomm nañu ko
# unchecked
nothing-paid = Feyuloo.
# unchecked
expired = Waxtu fey wi jeex na
# unchecked
expired-text = Fey bii ubbeeku woon na ba { $time }.
# unchecked
expired-ask = Feyuloo. Laajal { $merchant } beneen fey.
# unchecked
late-approval = Soo ko nangoo woon ci { $network }, fey la ba tey: ñu ngi laaj { $network }, te page bii dina ko wone. <b>Bul feyaat bala nga koy xam.</b>
# unchecked
review = Ñu ngi xool sa fey
# unchecked
review-text = Li ñëw du li ñu laaj. Bitik bi xam na ko. <b>Bul feyaat.</b>
# unchecked
review-keep = { $merchant } dina ko nangu walla mu delloo la ko. Dencal referans bi.
# unchecked
asked-for = Li ñu laaj
# unchecked
arrived = Li ñëw
# unchecked
reference = Referans
# unchecked
close-page = Mën nga tëj page bii.
# unchecked
back-to = Dellu ci { $merchant }
# unchecked
back-at = Mën nga tëj page bii, walla nga dellu ci { $merchant } ci adres bii:

## The receipt

# unchecked
receipt = Resi
# unchecked
paid = FEYEES NA
# unchecked
paid-to = Fey nga { $merchant }
# { $since } is a duration such as 12 s.
# unchecked
paid-since = am na { $since }
# unchecked
short-code = Kod { $code }
# unchecked
refunded = Delloo nañu ko
# unchecked
refunded-text = { $merchant } delloo na la xaalis bii.
# unchecked
partly-returned = Delloo nañu ci lenn
# unchecked
partly-refunded-text = { $merchant } delloo na la { $amount } ci fey bii.
# unchecked
taken-back = Network bi jëlaat na ko
# unchecked
taken-back-text = { $network } jëlaat na xaalis bii. Laajal { $merchant } bala ngay feyaat.
# unchecked
partly-taken-back-text = { $network } jëlaat na { $amount } ci fey bii.
# unchecked
line-to = Ki jot
# unchecked
line-for = Ngir
# unchecked
line-from = Jóge ci
# unchecked
line-time = Waxtu
# unchecked
issued-by = { $merchant } moo ko génne ak Dalasi.
# unchecked
verify-at = Xoolal ndax dëgg la:
# unchecked
print = Print walla denc
# unchecked
share = Yónnee resi bi
# unchecked
share-whatsapp = Yónnee ko ci WhatsApp
# The message that is shared; the address follows.
# unchecked
share-text = Resi: { $amount }, { $merchant }

## Links and counters

# unchecked
choose-next = Dinga tann nooy feye ci beneen page bi.
# unchecked
go-on = Wéyal
# unchecked
amount-example = Ci dalasi, lu mel ni 450.
# unchecked
amount-min = Ci dalasi, bumu yées { $amount }.
# unchecked
amount-missing = Bindal xaalis bi.
# unchecked
amount-digits = Bindal xaalis bi ak ay lim, lu mel ni 450 walla 450.50.
# unchecked
amount-zero = Bindal lu ëpp 0.
# unchecked
amount-too-small = Bumu yées { $amount }.
# unchecked
amount-too-large = Bumu ëpp { $amount }.
# unchecked
amount-not-taken = Mënuloo fey xaalis bii fii. Jéemal beneen.
# unchecked
amount-whole = Dalasi yu mat rekk, lu mel ni 450.
# unchecked
amount-changed = Bitik bi soppi na xaalis bi. Xoolal ko, te nga fey.
# unchecked
fields-changed = Bitik bi soppi na laaj yi. Bindaatal ko.
# unchecked
fee-percent = Caajoo bu tollu ci { $percent } dina ci dolliku, ba mu mat dalasi.
# unchecked
fee-percent-fixed = Caajoo bu tollu ci { $percent } ak { $fixed } dina ci dolliku, ba mu mat dalasi.
# unchecked
fee-fixed = Caajoo bu tollu ci { $fixed } dina ci dolliku.
# unchecked
fee-fixed-rounded = Caajoo bu tollu ci { $fixed } dina ci dolliku, ba mu mat dalasi.
# unchecked
fee-minimum = Bumu yées { $amount }.
# unchecked
fee-maximum = Caajoo bi bumu ëpp { $amount }.
# unchecked
optional = soo bëggee
# unchecked
answer-too-long = Lii dafa gudd lool. Gàttal ko.
# unchecked
shop-cannot = Bitik bi mënul nangu fey bii léegi. Wax ko bitik bi.
# unchecked
busy-here = Nit ñu bari ñu ngi fey fii léegi. Xaaral ay segond, te nga jéemaat.
# unchecked
is-this-it = Ndax fii nga nekk?
# unchecked
is-this-it-text = Bind nga kod bi te bàyyi araf yi ci topp. Wéyal rekk su fekkee bitik bi ak kontar bi ñoo la.
# unchecked
is-this-it-yes = Waaw, fii la
# unchecked
is-this-it-no = Su dul fii, laajal liggéeykat yi. Feyuloo.
# unchecked
code-page = Fey ci kontar
# unchecked
code-page-field = Kod bi ci poster bi
# unchecked
code-page-hint = 7 lim yi ci suufu QR kod bi, lu mel ni 744 4407.
# unchecked
code-page-unknown = Amul kontar bu am kod bii. Xoolal ko ci poster bi.
# unchecked
link-inactive = Link bii dañu ko tëj
# unchecked
link-inactive-text = { $merchant } tëj na link bii. Feyuloo. Laajal bitik bi ndax dina ubbiwaat.
# unchecked
link-deleted = Link bii dañu ko dindi
# unchecked
link-deleted-text = { $merchant } dindi na link bii. Feyuloo. Laajal bitik bi beneen.
# unchecked
counter-closed = Kontar bii dañu ko tëj
# unchecked
counter-closed-text = { $merchant } du nangu fey ci kontar bii léegi. Feyuloo. Laajal liggéeykat yi.
# unchecked
counter-deleted-text = { $merchant } amatul kontar bii. Feyuloo. Laajal liggéeykat yi beneen.
# unchecked
not-connected = Ubbeekagul
# unchecked
not-connected-text = { $merchant } mënagul nangu mobile money fii. Feyuloo. Laajal bitik bi neneen nu ñuy feye.

## Pages of errors

# unchecked
open-again = Ubbiwaatal page bi
# unchecked
request-id = Laaj { $id }
# unchecked
error-form = Form bii jógewul ci sunu page
# unchecked
error-form-text = Defuñu dara. Ubbiwaatal page bi te nga bës ay butonam.
# unchecked
error-not-found = Gisuñu page bi
# unchecked
error-not-found-text = Feyuloo dara fii. Xoolal adres bi, walla nga laaj beneen link.
# unchecked
error-method = Page bii mënul def loolu
# unchecked
error-method-text = Defuñu dara. Ubbiwaatal page bi te nga bës ay butonam.
# unchecked
error-too-many = Laaj yi bari nañu lool
# unchecked
error-too-many-text = Defuñu dara. Xaaral benn minit, te nga jéemaat. Soo bindee kodu kontar, scanal QR kod bi.
# unchecked
error-too-long = Adres bi dafa gudd lool
# unchecked
error-too-long-text = Feyuloo dara fii. Xoolal adres bi, walla nga laaj beneen link.
# unchecked
error-unavailable = Service bi du dox léegi
# unchecked
error-unavailable-text = Li nga fey réerul. Ubbiwaatal page bi ngir gis ko. <b>Bul feyaat bala nga koy gis.</b>
# unchecked
error-ours = Am na lu dox baaxul
# unchecked
error-ours-text = Nun noo juum. Li nga fey réerul. Ubbiwaatal page bi ngir gis ko bala ngay feyaat.
# unchecked
error-unread = Mënuñu jàng form bi
# unchecked
error-unread-text = Defuñu dara. Ubbiwaatal page bi te nga jéemaat.

## Posters

# unchecked
poster-scan = Scanal ngir fey
# unchecked
poster-code = Kod
# unchecked
poster-pay-with = Feyeel
# unchecked
poster-no-camera = Amuloo kamera? Ubbil adres bii ci sa telefon:
# unchecked
poster-test = Posteru test: du jël xaalis dëgg
