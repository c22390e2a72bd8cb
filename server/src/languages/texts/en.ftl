# What payers read, in English. docs/languages.md says how to correct a text or add a language.
# The name before = stays as it is, and so does everything in { } and the marks <b> and </b>.

language-name = English

## Every page

languages = Language
test-mode = <b>Test mode</b>: no real money moves
months = Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec
# { $days } is 2 or more.
days = { $days } days
amount = Amount
fee = Fee
total = Total
counter = Counter { $counter }
ask-shop = Ask the shop: { $contact }

## Paying: what and until when

pay-merchant = Pay { $merchant }
pay-amount = Pay { $amount }
the-payment = The payment
pay-by = Pay by { $time }
# { $left } is a duration such as 29 min.
time-left = { $left } left

## The name of each state, in the browser’s tab and read aloud when the page changes

state-choose = Pay
state-starting = Starting
state-waiting = Waiting for you
state-code = Enter the code
state-asking = Checking, do not pay again
state-review = Under review
state-paid = Paid
state-partly-refunded = Partly returned
state-refunded = Refunded
state-reversed = Taken back
state-failed = Not paid
state-cancelled = Cancelled
state-expired = Expired
# In the tab: “Paid: D450.00 · Kairaba Bookshop”.
tab = { $state }: { $amount } · { $merchant }

## Choosing the network

choose-network = How do you want to pay?
choose-one = Pay with { $network }
your-number = Your mobile-money number
number-example = Like 301 2345 or +220 83 301 2345.
number-not-for = Not for { $networks }.
number-last = Last time: { $number }.
likely = Likely yours
try-again = Try again
tries-left =
    { $tries ->
        [one] You have not paid. 1 try left.
       *[other] You have not paid. { $tries } tries left.
    }
tries-left-open =
    { $tries ->
        [one] If you approved the old request, it still counts: then wait, and do not pay again. 1 try left.
       *[other] If you approved the old request, it still counts: then wait, and do not pay again. { $tries } tries left.
    }
no-network = No network takes this payment now
no-network-text = Try again in a few minutes, or ask the shop for another way to pay.
# { $prompts } names networks and numbers, such as “Afrimoney 701 2345”.
still-open = <b>Do not approve the old request</b> ({ $prompts }). If you approve both, you pay twice.
cancel-payment = Cancel this payment

## Errors beside the fields

network-missing = Choose a network.
network-refused = This network cannot take this payment. Choose another one.
number-missing = Enter your { $network } number.
number-invalid = Check the number: it has 7 or 9 digits, like 701 2345.
number-busy = This number was asked a moment ago. Answer on the phone, or try again later.
code-length =
    { $digits ->
       *[other] The code has { $digits } digits. Enter all of them.
    }
code-wrong =
    { $tries ->
        [one] This code is not right. 1 try left.
       *[other] This code is not right. { $tries } tries left.
    }
code-wrong-again = This code is not right. Try again.
id-form = That is no transaction id. Copy it from the network’s message.
id-wrong =
    { $tries ->
        [one] No payment with this id and amount has arrived. 1 try left.
       *[other] No payment with this id and amount has arrived. { $tries } tries left.
    }
too-many-tries = Too many tries. Wait a minute, then try again.
not-accepted = This was not accepted. Check what you entered.

## Why an attempt failed

failed-declined = You declined it.
failed-funds = Not enough money in your { $network } wallet.
failed-limit = The amount is above the limit of your { $network } wallet.
failed-no-account = There is no { $network } wallet with this number.
failed-blocked = Your { $network } wallet is blocked. Ask { $network }.
failed-code = The code was wrong too many times.
failed-expired = You did not approve it in time.
failed-cancelled = It was cancelled before you approved it.
failed-network = { $network } takes no payments just now.
failed-no-reason = { $network } did not take the payment and gave no reason.
failed-returned = You sent another amount than asked. { $network } returned it to you.
failed-not-paid = No money arrived from you.

## Waiting for the network or the payer

starting = Starting your payment
starting-text = We are asking { $network }. This takes a few seconds.
waiting-for = Waiting for { $network }
waiting-for-you = Waiting for you
check-again = Check again
asking = Checking with { $network }
asking-text = We are asking { $network } whether you have paid. <b>Do not pay again.</b>
asking-leave = This can take some minutes. You can close this page: the shop is told, and this page shows it when you come back.
change-only-if = Only if no request reached your phone:
approve-phone = Approve on your phone
approve-1 = Look at your phone: { $network } asks you to pay { $amount }.
approve-1-number = Look at the phone { $number }: { $network } asks you to pay { $amount }.
approve-2 = Check the amount. Enter your PIN on the phone, never on this page.
approve-3 = This page goes on by itself.
approve-3-confirm = Come back here and press the button.
approved = I have approved
approved-not-seen = { $network } has not seen your approval yet. If you have approved, press the button once more in a moment.
approve-in = Approve in { $network }
approve-in-text = { $network } opens with { $amount } filled in. Approve it there, then come back.
open-network = Open { $network }
scan-other = Or scan it with the phone that has { $network }
scan-code = QR code that opens this payment in { $network }
enter-code = Enter the code
code-sent =
    { $digits ->
       *[other] { $network } sent a code of { $digits } digits.
    }
code-sent-to =
    { $digits ->
       *[other] { $network } sent a code of { $digits } digits to { $number }.
    }
code-field = Code from the message
code-hint = Never type your PIN here.
confirm-payment = Confirm the payment
send-heading = Send { $amount }, then type the transaction id
send-1 = In { $network }, send <b>exactly</b> { $amount } to this number:
send-number = Number
send-name = Name
copy = Copy
send-2 = { $network } sends you a message. Find the transaction id in it.
send-where = Where is the id?
send-where-text = Open the newest message from { $network }. The id stands after “Transaction ID” or “ID”. It is letters and digits, not the amount and not a phone number.
send-3 = Type the id here. The shop gets your payment when the id and the amount are right.
send-field = Transaction id from your message
send-button = I have sent it
send-not-again = If you have sent the money, <b>do not send it again</b>.
typed-heading = We are looking for your payment
typed-message = We have your transaction id and wait for { $network }’s message to the shop. <b>Do not send again.</b>
typed-statement = We are waiting for { $network }’s statement, because the amount is large. <b>Do not send again.</b>
typed-check = This id was typed for another payment too. A person is checking it. <b>Do not send again.</b>
typed-id = You typed { $id }.
typed-correct = Is the id not right?
typed-leave = You can close this page and come back by the same link.
send-closed = This form is closed
send-closed-text = Five ids were not right. If you have sent the money, <b>do not send it again</b>.
send-closed-next = Show { $merchant } the message from { $network }. The shop can find your payment with it.
send-closed-reference = Tell the shop this reference:
nothing-arrived = Nothing arrived?
nothing-1 = Check the number: { $number }. Is it right?
nothing-2 = Is the phone on, with signal?
nothing-dial = Dial { $code } on that phone and approve the payment there.
nothing-3 = Still nothing? Change the number or the network.
change = Change number or network
simulated-phone = Open the simulated phone

## Cancelling

cancel-question = Cancel this payment?
cancel-nothing-paid = You have not paid. After this you need a new payment from the shop.
cancel-if-open = Cancel only if you have not approved. A payment that you approved still counts.
cancel-no = No, go on paying
cancel-yes = Yes, cancel it

## The end

not-paid = You have not paid
no-tries = No tries are left. Ask { $merchant } for a new payment.
cancelled = This payment was cancelled
nothing-paid = You have not paid.
expired = The time to pay is over
expired-text = This payment was open until { $time }.
expired-ask = You have not paid. Ask { $merchant } for a new payment.
late-approval = If you approved it in { $network }, it still counts: we are asking { $network }, and this page will show it. <b>Do not pay again before you know.</b>
review = Your payment is under review
review-text = Another amount arrived than was asked for. The shop knows. <b>Do not pay again.</b>
review-keep = { $merchant } will accept it or return it. Keep the reference.
asked-for = Asked for
arrived = Arrived
reference = Reference
close-page = You can close this page.
back-to = Back to { $merchant }
back-at = You can close this page, or go back to { $merchant } at this address:

## The receipt

receipt = Receipt
paid = PAID
paid-to = Paid to { $merchant }
# { $since } is a duration such as 12 s.
paid-since = { $since } ago
short-code = Code { $code }
refunded = Refunded
refunded-text = { $merchant } returned this payment to you.
partly-returned = Partly returned
partly-refunded-text = { $merchant } returned { $amount } of this payment to you.
taken-back = Taken back by the network
taken-back-text = { $network } took this payment back. Ask { $merchant } before you pay again.
partly-taken-back-text = { $network } took { $amount } of this payment back.
line-to = To
line-for = For
line-from = From
line-time = Time
issued-by = Issued by { $merchant } with Dalasi.
verify-at = Check that it is real:
print = Print or save
share = Share receipt
share-whatsapp = Share on WhatsApp
# The message that is shared; the address follows.
share-text = Receipt: { $amount }, { $merchant }

## Links and counters

choose-next = You choose how to pay on the next page.
go-on = Go on
amount-example = In dalasi, like 450.
amount-min = In dalasi, at least { $amount }.
amount-missing = Enter the amount.
amount-digits = Write the amount with digits, like 450 or 450.50.
amount-zero = Enter an amount above zero.
amount-too-small = At least { $amount }.
amount-too-large = At most { $amount }.
amount-not-taken = This amount cannot be paid here. Try another one.
amount-whole = Only whole dalasi, like 450.
amount-changed = The shop has changed the amount. Check it, then pay.
fields-changed = The shop has changed what it asks. Fill it in again.
fee-percent = A fee of { $percent } is added, rounded up to whole dalasi.
fee-percent-fixed = A fee of { $percent } and { $fixed } is added, rounded up to whole dalasi.
fee-fixed = A fee of { $fixed } is added.
fee-fixed-rounded = A fee of { $fixed } is added, rounded up to whole dalasi.
fee-minimum = The fee is at least { $amount }.
fee-maximum = The fee is at most { $amount }.
optional = optional
answer-too-long = This is too long. Shorten it.
shop-cannot = The shop cannot take this payment now. Tell the shop.
busy-here = Many people are paying here just now. Wait a few seconds, then try again.
is-this-it = Is this where you are?
is-this-it-text = You typed the code without the letters after it. Go on only if the shop and the counter are right.
is-this-it-yes = Yes, that is right
is-this-it-no = If not, ask the staff. You have not paid.
code-page = Pay at a counter
code-page-field = Code on the poster
code-page-hint = The 7 digits under the QR code, like 744 4407.
code-page-unknown = No counter has this code. Check it on the poster.
link-inactive = This link is closed
link-inactive-text = { $merchant } has closed this link. You have not paid. Ask the shop whether it opens again.
link-deleted = This link was deleted
link-deleted-text = { $merchant } has deleted this link. You have not paid. Ask the shop for a new one.
counter-closed = This counter is closed
counter-closed-text = { $merchant } takes no payments at this counter now. You have not paid. Ask the staff.
counter-deleted-text = { $merchant } no longer has this counter. You have not paid. Ask the staff for another one.
not-connected = Not open yet
not-connected-text = { $merchant } cannot take mobile money here yet. You have not paid. Ask the shop for another way to pay.

## Pages of errors

open-again = Open the page again
request-id = Request { $id }
error-form = This form was not sent from our page
error-form-text = Nothing was done. Open the page again and use its buttons.
error-not-found = Page not found
error-not-found-text = Nothing was paid here. Check the address, or ask for a new link.
error-method = This page cannot do that
error-method-text = Nothing was done. Open the page again and use its buttons.
error-too-many = Too many requests
error-too-many-text = Nothing was done. Wait a minute, then try again. If you typed the code of a counter, scan its QR code.
error-too-long = The address is too long
error-too-long-text = Nothing was paid here. Check the address, or ask for a new link.
error-unavailable = The service is not available now
error-unavailable-text = What you have paid is safe. Open the page again to see it. <b>Do not pay again before you have seen it.</b>
error-ours = Something went wrong
error-ours-text = The fault is ours. What you have paid is safe. Open the page again to see it before you pay again.
error-unread = The form could not be read
error-unread-text = Nothing was done. Open the page again and try once more.

## Posters

poster-scan = Scan to pay
poster-code = Code
poster-pay-with = Pay with
poster-no-camera = No camera? Open this address on your phone:
poster-test = Test poster: takes no real money
