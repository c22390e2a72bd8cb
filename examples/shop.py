"""A shop that sells one book, from the order to "paid". It needs receiver.py beside it, and no packages:

    DALASI_SECRET_KEY=sk_test_... DALASI_WEBHOOK_SECRET=wh_... PORT=3000 python3 examples/shop.py

Then set the endpoint's address to http://localhost:3000/events.
"""
import json, os, re, sys, urllib.error, urllib.request, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from receiver import BODY_BYTES_MAX, check_secret, verify_standard

DALASI_URL = os.environ.get("DALASI_URL", "http://localhost:8080")
SECRET_KEY = os.environ.get("DALASI_SECRET_KEY", "")

# A shop keeps its orders in a database.
orders = {}


# Raises with the sentence that says what to do, and the request's id for whoever runs the service.
def call_dalasi(method, path, body=None, key=None):
    headers = {"authorization": f"Bearer {SECRET_KEY}"}
    if body is not None:
        headers["content-type"] = "application/json"
    if key is not None:
        headers["idempotency-key"] = key
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(DALASI_URL + path, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=15) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        raise RuntimeError(f"Dalasi answered {error.code}: {problem['message']} ({problem['request_id']})") from None


ENDED_UNPAID = ("failed", "cancelled", "expired")


# Returns the address of the page where the customer pays, the first time or again. Of a paid order it is the order's own.
def start_payment(order):
    status = check_payment(order)
    if order["is_paid"]:
        return f"{shop_url}/orders/{order['id']}"
    # A payment that has ended cannot be paid any more: the next attempt needs a new key.
    is_new_attempt = not order["payment_ids"] or status in ENDED_UNPAID
    attempt = len(order["payment_ids"]) + (1 if is_new_attempt else 0)
    data = {
        "amount": order["amount"],
        "title": f"Order {order['id']}",
        "return_url": f"{shop_url}/orders/{order['id']}",
        "cancel_url": f"{shop_url}/orders/{order['id']}",
        "metadata": {"order": order["id"]},
    }
    # With the attempt's key a repetition, after a lost answer or a second click, finds the same payment.
    payment = call_dalasi("POST", "/v1/payments", {"data": data}, key=f"order-{order['id']}-{attempt}")
    if payment["payment_intent_id"] not in order["payment_ids"]:
        order["payment_ids"].append(payment["payment_intent_id"])
    return payment["payment_link"]


# Asks Dalasi about the order's newest payment. What stands in the address of the page is anybody's text.
def check_payment(order):
    if not order["payment_ids"]:
        return "requires_payment_method"
    payment = call_dalasi("GET", f"/v1/payments/{order['payment_ids'][-1]}")
    if payment["status"] == "successful":
        mark_paid(order, payment)
    return payment["status"]


# What a verified event says of an order. The same event twice, or one that comes late, changes nothing more.
def handle_event(event):
    if event["event"] != "charge.succeeded":
        return
    order = orders.get(event["data"]["metadata"].get("order"))
    # Of any attempt: a payment that was cancelled can still turn out to be paid.
    if order is not None and event["data"]["payment_intent_id"] in order["payment_ids"]:
        mark_paid(order, event["data"])


def mark_paid(order, paid):
    if order["is_paid"] or paid["amount"] != order["amount"] or paid["currency"] != "GMD":
        return
    order["is_paid"] = True
    print("paid", order["id"], flush=True)


# Also a customer whose request failed gets a page.
def with_error_page(answer):
    def answer_always(shop):
        try:
            answer(shop)
        except Exception as error:
            print(error, file=sys.stderr, flush=True)
            shop.show(500, "Something went wrong here. If you have paid, do not pay again: open this page once more in a minute.")

    return answer_always


class Shop(BaseHTTPRequestHandler):
    @with_error_page
    def do_GET(self):
        path = re.fullmatch(r"/orders/([\w-]+)", self.path.partition("?")[0])
        if path is None:
            return self.show(200, '<form method="post" action="/orders"><button>Buy the book for D450</button></form>')
        order = orders.get(path[1])
        if order is None:
            return self.show(404, "There is no such order.")
        status = "successful" if order["is_paid"] else check_payment(order)
        if order["is_paid"]:
            return self.show(200, "Thank you, your order is paid.")
        again = f'<form method="post" action="/orders/{order["id"]}/pay"><button>Pay again</button></form>'
        return self.show(200, f"Your order is not paid yet: {status}. {again if status in ENDED_UNPAID else ''}")

    @with_error_page
    def do_POST(self):
        if self.path == "/orders":
            order = {"id": str(uuid.uuid4()), "amount": 450, "payment_ids": [], "is_paid": False}
            orders[order["id"]] = order
            return self.redirect(start_payment(order))
        path = re.fullmatch(r"/orders/([\w-]+)/pay", self.path)
        if path is not None:
            order = orders.get(path[1])
            return self.show(404, "There is no such order.") if order is None else self.redirect(start_payment(order))
        raw_body = self.rfile.read(min(int(self.headers.get("content-length", 0)), BODY_BYTES_MAX))
        headers = {name.lower(): value for name, value in self.headers.items()}
        is_genuine = verify_standard(raw_body, headers, webhook_secret)
        if is_genuine:
            handle_event(json.loads(raw_body))
        self.send_response(204 if is_genuine else 401)
        self.end_headers()

    def redirect(self, location):
        self.send_response(303)
        self.send_header("location", location)
        self.end_headers()

    def show(self, status, content):
        self.send_response(status)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(f"<!doctype html><p>{content}</p>".encode())

    def log_message(self, *words):
        pass


if __name__ == "__main__":
    webhook_secret = check_secret(os.environ.get("DALASI_WEBHOOK_SECRET"))
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 3000))), Shop)
    shop_url = os.environ.get("SHOP_URL", f"http://127.0.0.1:{server.server_address[1]}")
    print("Listening on", shop_url, flush=True)
    server.serve_forever()
