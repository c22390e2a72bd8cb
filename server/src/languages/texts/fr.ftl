# What payers read, in French. docs/languages.md says how to correct a text or add a language.
# The name before = stays as it is, and so does everything in { } and the marks <b> and </b>.
# “# unchecked”: no native speaker has checked the text below it. Delete that line when the text is right.

# unchecked
language-name = Français

## Every page

# unchecked
languages = Langue
# unchecked
test-mode = <b>Mode test</b> : aucun argent réel ne bouge
# unchecked
months = janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.
# { $days } is 2 or more.
# unchecked
days = { $days } jours
# unchecked
amount = Montant
# unchecked
fee = Frais
# unchecked
total = Total
# unchecked
counter = Caisse { $counter }
# unchecked
ask-shop = Demandez à la boutique : { $contact }

## Paying: what and until when

# unchecked
pay-merchant = Payer { $merchant }
# unchecked
pay-amount = Payer { $amount }
# unchecked
the-payment = Le paiement
# unchecked
pay-by = Payez avant { $time }
# { $left } is a duration such as 29 min.
# unchecked
time-left = reste { $left }

## The name of each state, in the browser’s tab and read aloud when the page changes

# unchecked
state-choose = Payer
# unchecked
state-starting = On commence
# unchecked
state-waiting = En attente de vous
# unchecked
state-code = Entrez le code
# unchecked
state-asking = On vérifie, ne payez pas à nouveau
# unchecked
state-review = À l’examen
# unchecked
state-paid = Payé
# unchecked
state-partly-refunded = Rendu en partie
# unchecked
state-refunded = Remboursé
# unchecked
state-reversed = Repris
# unchecked
state-failed = Pas payé
# unchecked
state-cancelled = Annulé
# unchecked
state-expired = Expiré
# In the tab: “Paid: D450.00 · Kairaba Bookshop”.
# unchecked
tab = { $state } : { $amount } · { $merchant }

## Choosing the network

# unchecked
choose-network = Comment voulez-vous payer ?
# unchecked
choose-one = Payer avec { $network }
# unchecked
your-number = Votre numéro mobile money
# unchecked
number-example = Comme 301 2345 ou +220 83 301 2345.
# unchecked
number-not-for = Pas pour { $networks }.
# unchecked
number-last = La dernière fois : { $number }.
# unchecked
likely = Sans doute le vôtre
# unchecked
try-again = Réessayer
# unchecked
tries-left =
    { $tries ->
        [one] Vous n’avez pas payé. Il reste { $tries } essai.
       *[other] Vous n’avez pas payé. Il reste { $tries } essais.
    }
# unchecked
tries-left-open =
    { $tries ->
        [one] Si vous avez approuvé l’ancienne demande, elle compte quand même : attendez, et ne payez pas à nouveau. Il reste { $tries } essai.
       *[other] Si vous avez approuvé l’ancienne demande, elle compte quand même : attendez, et ne payez pas à nouveau. Il reste { $tries } essais.
    }
# unchecked
no-network = Aucun réseau ne prend ce paiement maintenant
# unchecked
no-network-text = Réessayez dans quelques minutes, ou demandez à la boutique comment payer autrement.
# { $prompts } names networks and numbers, such as “Afrimoney 701 2345”.
# unchecked
still-open = <b>N’approuvez pas l’ancienne demande</b> ({ $prompts }). Si vous approuvez les deux, vous payez deux fois.
# unchecked
cancel-payment = Annuler ce paiement

## Errors beside the fields

# unchecked
network-missing = Choisissez un réseau.
# unchecked
network-refused = Ce réseau ne peut pas prendre ce paiement. Choisissez-en un autre.
# unchecked
number-missing = Entrez votre numéro { $network }.
# unchecked
number-invalid = Vérifiez le numéro : il a 7 ou 9 chiffres, comme 701 2345.
# unchecked
number-busy = Une demande vient d’aller à ce numéro. Répondez sur le téléphone, ou réessayez plus tard.
# unchecked
code-length = Le code a { $digits } chiffres. Entrez-les tous.
# unchecked
code-wrong =
    { $tries ->
        [one] Ce code n’est pas bon. Il reste { $tries } essai.
       *[other] Ce code n’est pas bon. Il reste { $tries } essais.
    }
# unchecked
code-wrong-again = Ce code n’est pas bon. Réessayez.
# unchecked
id-form = Ce n’est pas un numéro de transaction. Copiez-le du message du réseau.
# unchecked
id-wrong =
    { $tries ->
        [one] Aucun paiement avec ce numéro et ce montant n’est arrivé. Il reste 1 essai.
       *[other] Aucun paiement avec ce numéro et ce montant n’est arrivé. Il reste { $tries } essais.
    }
# unchecked
too-many-tries = Trop d’essais. Attendez une minute, puis réessayez.
# unchecked
not-accepted = Cela n’a pas été accepté. Vérifiez ce que vous avez entré.

## Why an attempt failed

# unchecked
failed-declined = Vous avez refusé.
# unchecked
failed-funds = Pas assez d’argent dans votre compte { $network }.
# unchecked
failed-limit = Le montant dépasse la limite de votre compte { $network }.
# unchecked
failed-no-account = Il n’y a pas de compte { $network } à ce numéro.
# unchecked
failed-blocked = Votre compte { $network } est bloqué. Demandez à { $network }.
# unchecked
failed-code = Le code était faux trop de fois.
# unchecked
failed-expired = Vous n’avez pas approuvé à temps.
# unchecked
failed-cancelled = Le paiement a été annulé avant votre accord.
# unchecked
failed-network = { $network } ne prend pas de paiements en ce moment.
# unchecked
failed-no-reason = { $network } n’a pas pris le paiement et n’a pas dit pourquoi.
# unchecked
failed-returned = Vous avez envoyé un autre montant que demandé. { $network } vous l’a rendu.
# unchecked
failed-not-paid = Aucun argent reçu de vous.

## Waiting for the network or the payer

# unchecked
starting = On commence votre paiement
# unchecked
starting-text = Nous demandons à { $network }. Cela prend quelques secondes.
# unchecked
waiting-for = On attend { $network }
# unchecked
waiting-for-you = On vous attend
# unchecked
check-again = Vérifier encore
# unchecked
asking = On vérifie avec { $network }
# unchecked
asking-text = Nous demandons à { $network } si vous avez payé. <b>Ne payez pas à nouveau.</b>
# unchecked
asking-leave = Cela peut prendre quelques minutes. Vous pouvez fermer cette page : la boutique sera prévenue, et vous le verrez ici à votre retour.
# unchecked
change-only-if = Seulement si aucune demande n’est arrivée sur votre téléphone :
# unchecked
approve-phone = Approuvez sur votre téléphone
# unchecked
approve-1 = Regardez votre téléphone : { $network } vous demande de payer { $amount }.
# unchecked
approve-1-number = Regardez le téléphone { $number } : { $network } vous demande de payer { $amount }.
# unchecked
approve-2 = Vérifiez le montant. Entrez votre PIN sur le téléphone, jamais sur cette page.
# unchecked
approve-3 = Cette page continue toute seule.
# unchecked
approve-3-confirm = Revenez ici et appuyez sur le bouton.
# unchecked
approved = J’ai approuvé
# unchecked
approved-not-seen = { $network } n’a pas encore vu votre accord. Si vous avez approuvé, appuyez encore une fois dans un moment.
# unchecked
approve-in = Approuvez dans { $network }
# unchecked
approve-in-text = { $network } s’ouvre avec { $amount } déjà rempli. Approuvez là-bas, puis revenez.
# unchecked
open-network = Ouvrir { $network }
# unchecked
scan-other = Ou scannez-le avec le téléphone qui a { $network }
# unchecked
scan-code = QR code qui ouvre ce paiement dans { $network }
# unchecked
enter-code = Entrez le code
# unchecked
code-sent = { $network } a envoyé un code de { $digits } chiffres.
# unchecked
code-sent-to = { $network } a envoyé un code de { $digits } chiffres au { $number }.
# unchecked
code-field = Code du message
# unchecked
code-hint = Ne mettez jamais votre PIN ici.
# unchecked
confirm-payment = Confirmer le paiement
# unchecked
send-heading = Envoyez { $amount }, puis tapez le numéro de transaction
# unchecked
send-1 = Dans { $network }, envoyez <b>exactement</b> { $amount } à ce numéro :
# unchecked
send-number = Numéro
# unchecked
send-name = Nom
# unchecked
copy = Copier
# unchecked
send-2 = { $network } vous envoie un message. Cherchez-y le numéro de transaction.
# unchecked
send-where = Où est ce numéro ?
# unchecked
send-where-text = Ouvrez le dernier message de { $network }. Le numéro suit « Transaction ID » ou « ID ». Ce sont des lettres et des chiffres, ni le montant ni un numéro de téléphone.
# unchecked
send-3 = Tapez-le ici. La boutique reçoit votre paiement quand le numéro et le montant sont bons.
# unchecked
send-field = Numéro de transaction de votre message
# unchecked
send-button = J’ai envoyé
# unchecked
send-not-again = Si vous avez envoyé l’argent, <b>ne l’envoyez pas à nouveau</b>.
# unchecked
typed-heading = Nous cherchons votre paiement
# unchecked
typed-message = Nous avons votre numéro de transaction et attendons le message de { $network } à la boutique. <b>N’envoyez pas à nouveau.</b>
# unchecked
typed-statement = Nous attendons le relevé de { $network }, car le montant est élevé. <b>N’envoyez pas à nouveau.</b>
# unchecked
typed-check = Ce numéro a aussi été tapé pour un autre paiement. Une personne vérifie. <b>N’envoyez pas à nouveau.</b>
# unchecked
typed-id = Vous avez tapé { $id }.
# unchecked
typed-correct = Le numéro n’est pas bon ?
# unchecked
typed-leave = Vous pouvez fermer cette page et revenir par le même lien.
# unchecked
send-closed = Ce formulaire est fermé
# unchecked
send-closed-text = Cinq numéros n’étaient pas bons. Si vous avez envoyé l’argent, <b>ne l’envoyez pas à nouveau</b>.
# unchecked
send-closed-next = Montrez à { $merchant } le message de { $network }. La boutique peut ainsi trouver votre paiement.
# unchecked
send-closed-reference = Donnez cette référence à la boutique :
# unchecked
nothing-arrived = Rien reçu ?
# unchecked
nothing-1 = Vérifiez le numéro : { $number }. Est-il juste ?
# unchecked
nothing-2 = Le téléphone est allumé et il capte ?
# unchecked
nothing-dial = Composez { $code } sur ce téléphone et approuvez le paiement là-bas.
# unchecked
nothing-3 = Toujours rien ? Changez le numéro ou le réseau.
# unchecked
change = Changer le numéro ou le réseau
# unchecked
simulated-phone = Ouvrir le téléphone simulé

## Cancelling

# unchecked
cancel-question = Annuler ce paiement ?
# unchecked
cancel-nothing-paid = Vous n’avez pas payé. Après cela, il vous faut un nouveau paiement de la boutique.
# unchecked
cancel-if-open = Annulez seulement si vous n’avez pas approuvé. Un paiement que vous avez approuvé compte quand même.
# unchecked
cancel-no = Non, continuer à payer
# unchecked
cancel-yes = Oui, l’annuler

## The end

# unchecked
not-paid = Vous n’avez pas payé
# unchecked
no-tries = Il ne reste plus d’essai. Demandez un nouveau paiement à { $merchant }.
# unchecked
cancelled = Ce paiement a été annulé
# unchecked
nothing-paid = Vous n’avez pas payé.
# unchecked
expired = Le temps pour payer est fini
# unchecked
expired-text = Ce paiement était ouvert jusqu’au { $time }.
# unchecked
expired-ask = Vous n’avez pas payé. Demandez un nouveau paiement à { $merchant }.
# unchecked
late-approval = Si vous l’avez approuvé dans { $network }, il compte quand même : nous demandons à { $network }, et cette page le montrera. <b>Ne payez pas à nouveau avant de savoir.</b>
# unchecked
review = Votre paiement est à l’examen
# unchecked
review-text = Le montant arrivé n’est pas celui demandé. La boutique le sait. <b>Ne payez pas à nouveau.</b>
# unchecked
review-keep = { $merchant } va l’accepter ou le rendre. Gardez la référence.
# unchecked
asked-for = Demandé
# unchecked
arrived = Arrivé
# unchecked
reference = Référence
# unchecked
close-page = Vous pouvez fermer cette page.
# unchecked
back-to = Retour chez { $merchant }
# unchecked
back-at = Vous pouvez fermer cette page, ou retourner chez { $merchant } à cette adresse :

## The receipt

# unchecked
receipt = Reçu
# unchecked
paid = PAYÉ
# unchecked
paid-to = Payé à { $merchant }
# { $since } is a duration such as 12 s.
# unchecked
paid-since = il y a { $since }
# unchecked
short-code = Code { $code }
# unchecked
refunded = Remboursé
# unchecked
refunded-text = { $merchant } vous a rendu ce paiement.
# unchecked
partly-returned = Rendu en partie
# unchecked
partly-refunded-text = { $merchant } vous a rendu { $amount } de ce paiement.
# unchecked
taken-back = Repris par le réseau
# unchecked
taken-back-text = { $network } a repris ce paiement. Demandez à { $merchant } avant de payer à nouveau.
# unchecked
partly-taken-back-text = { $network } a repris { $amount } de ce paiement.
# unchecked
line-to = À
# unchecked
line-for = Pour
# unchecked
line-from = De
# unchecked
line-time = Heure
# unchecked
issued-by = Émis par { $merchant } avec Dalasi.
# unchecked
verify-at = Vérifiez qu’il est vrai :
# unchecked
print = Imprimer ou garder
# unchecked
share = Partager le reçu
# unchecked
share-whatsapp = Partager sur WhatsApp
# The message that is shared; the address follows.
# unchecked
share-text = Reçu : { $amount }, { $merchant }

## Links and counters

# unchecked
choose-next = Vous choisirez comment payer à la page suivante.
# unchecked
go-on = Continuer
# unchecked
amount-example = En dalasi, comme 450.
# unchecked
amount-min = En dalasi, au moins { $amount }.
# unchecked
amount-missing = Entrez le montant.
# unchecked
amount-digits = Écrivez le montant en chiffres, comme 450 ou 450.50.
# unchecked
amount-zero = Entrez un montant au-dessus de zéro.
# unchecked
amount-too-small = Au moins { $amount }.
# unchecked
amount-too-large = Au plus { $amount }.
# unchecked
amount-not-taken = Ce montant ne peut pas être payé ici. Essayez-en un autre.
# unchecked
amount-whole = Dalasi entiers seulement, comme 450.
# unchecked
amount-changed = La boutique a changé le montant. Vérifiez-le, puis payez.
# unchecked
fields-changed = La boutique a changé ses questions. Répondez encore.
# unchecked
fee-percent = Des frais de { $percent } s’ajoutent, arrondis au dalasi supérieur.
# unchecked
fee-percent-fixed = Des frais de { $percent } et { $fixed } s’ajoutent, arrondis au dalasi supérieur.
# unchecked
fee-fixed = Des frais de { $fixed } s’ajoutent.
# unchecked
fee-fixed-rounded = Des frais de { $fixed } s’ajoutent, arrondis au dalasi supérieur.
# unchecked
fee-minimum = Ils sont d’au moins { $amount }.
# unchecked
fee-maximum = Les frais sont d’au plus { $amount }.
# unchecked
optional = facultatif
# unchecked
answer-too-long = C’est trop long. Raccourcissez.
# unchecked
shop-cannot = La boutique ne peut pas prendre ce paiement maintenant. Dites-le-lui.
# unchecked
busy-here = Beaucoup de gens paient ici en ce moment. Attendez quelques secondes, puis réessayez.
# unchecked
is-this-it = Êtes-vous bien ici ?
# unchecked
is-this-it-text = Vous avez entré le code sans les lettres qui suivent. Continuez seulement si la boutique et la caisse sont les bonnes.
# unchecked
is-this-it-yes = Oui, c’est ici
# unchecked
is-this-it-no = Sinon, demandez au personnel. Vous n’avez pas payé.
# unchecked
code-page = Payer à une caisse
# unchecked
code-page-field = Code sur l’affiche
# unchecked
code-page-hint = Les 7 chiffres sous le QR code, comme 744 4407.
# unchecked
code-page-unknown = Aucune caisse n’a ce code. Vérifiez-le sur l’affiche.
# unchecked
link-inactive = Ce lien est fermé
# unchecked
link-inactive-text = { $merchant } a fermé ce lien. Vous n’avez pas payé. Demandez à la boutique s’il va rouvrir.
# unchecked
link-deleted = Ce lien a été supprimé
# unchecked
link-deleted-text = { $merchant } a supprimé ce lien. Vous n’avez pas payé. Demandez-en un nouveau à la boutique.
# unchecked
counter-closed = Cette caisse est fermée
# unchecked
counter-closed-text = { $merchant } ne prend pas de paiements à cette caisse maintenant. Vous n’avez pas payé. Demandez au personnel.
# unchecked
counter-deleted-text = { $merchant } n’a plus cette caisse. Vous n’avez pas payé. Demandez-en une autre au personnel.
# unchecked
not-connected = Pas encore ouvert
# unchecked
not-connected-text = { $merchant } ne peut pas encore prendre le mobile money ici. Vous n’avez pas payé. Demandez à la boutique comment payer autrement.

## Pages of errors

# unchecked
open-again = Rouvrir la page
# unchecked
request-id = Demande { $id }
# unchecked
error-form = Ce formulaire ne vient pas de notre page
# unchecked
error-form-text = Rien n’a été fait. Rouvrez la page et utilisez ses boutons.
# unchecked
error-not-found = Page introuvable
# unchecked
error-not-found-text = Rien n’a été payé ici. Vérifiez l’adresse, ou demandez un nouveau lien.
# unchecked
error-method = Cette page ne peut pas faire cela
# unchecked
error-method-text = Rien n’a été fait. Rouvrez la page et utilisez ses boutons.
# unchecked
error-too-many = Trop de demandes
# unchecked
error-too-many-text = Rien n’a été fait. Attendez une minute, puis réessayez. Si vous avez tapé le code d’une caisse, scannez son QR code.
# unchecked
error-too-long = L’adresse est trop longue
# unchecked
error-too-long-text = Rien n’a été payé ici. Vérifiez l’adresse, ou demandez un nouveau lien.
# unchecked
error-unavailable = Le service n’est pas disponible
# unchecked
error-unavailable-text = Ce que vous avez payé n’est pas perdu. Rouvrez la page pour le voir. <b>Ne payez pas à nouveau avant de l’avoir vu.</b>
# unchecked
error-ours = Il y a eu un problème
# unchecked
error-ours-text = La faute est à nous. Ce que vous avez payé n’est pas perdu. Rouvrez la page pour le voir avant de payer à nouveau.
# unchecked
error-unread = Le formulaire n’a pas pu être lu
# unchecked
error-unread-text = Rien n’a été fait. Rouvrez la page et réessayez une fois.

## Posters

# unchecked
poster-scan = Scannez pour payer
# unchecked
poster-code = Code
# unchecked
poster-pay-with = Payez avec
# unchecked
poster-no-camera = Pas de caméra ? Ouvrez cette adresse sur votre téléphone :
# unchecked
poster-test = Affiche de test : ne prend pas d’argent réel
