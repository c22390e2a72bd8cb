"""A receiver of events in one file, with Python's own library only:

    DALASI_WEBHOOK_SECRET=wh_... PORT=4000 python3 examples/receiver.py
"""
import base64, hashlib, hmac, re, time
import json, os, threading
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


# With an empty secret everybody could sign, and with a cut one nothing would verify: start with neither.
def check_secret(secret):
    if not re.fullmatch(r"wh_[A-Za-z0-9+/]{32,}={0,2}", secret or ""):
        raise RuntimeError("The webhook secret is not set, or is not the whole of it: wh_ and at least 32 characters.")
    return secret


# raw_body: the raw request body; headers: a dict with names in lower case.
def verify_service(raw_body, headers, secret):
    expected = hmac.new(check_secret(secret).encode(), raw_body, hashlib.sha512).hexdigest()
    return hmac.compare_digest(expected.encode(), headers.get("x-service-signature", "").encode())


def verify_standard(raw_body, headers, secret, now=None):
    key = base64.b64decode(check_secret(secret)[3:])
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    now = time.time() if now is None else now
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(now - int(timestamp)) > 300:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + raw_body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # During a rotation there are two signatures, separated by a space.
    sent = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(expected, signature) for signature in sent)


BODY_BYTES_MAX = 1024 * 1024
REMEMBERED = 10_000

# A shop keeps both in its database, in the transaction that does the work: a unique key on the event's id, and the
# sequence beside the record.
seen_ids = OrderedDict()
newest_sequences = OrderedDict()
lock = threading.Lock()


# What to do with a genuine event. The body's id is the header's webhook-id, and both signatures cover it. An event that
# arrives after a later one still counts: a payment that was partly refunded is paid all the same. Only its record is
# outdated, and must not overwrite the one you have.
def sort_event(event):
    record_id, sequence = event["data"]["id"], event["sequence"]
    with lock:
        if event["id"] in seen_ids:
            return "repeated"
        seen_ids[event["id"]] = True
        newest = newest_sequences.get(record_id, 0)
        newest_sequences[record_id] = max(newest, sequence)
        for kept in (seen_ids, newest_sequences):
            if len(kept) > REMEMBERED:
                kept.popitem(last=False)
    return "handled" if sequence > newest else "handled (record outdated)"


class Server(ThreadingHTTPServer):
    # Events come in bursts; five waiting connections, as Python has it, are too few.
    request_queue_size = 128
    daemon_threads = True


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 15

    def do_POST(self):
        try:
            status = self.receive()
        except (ValueError, KeyError, TypeError):
            status = 400
        # What was not read would be taken for the next request.
        self.close_connection = self.close_connection or status in (411, 413)
        self.send_response(status)
        # A 204 has no length, RFC 9110.
        if status != 204:
            self.send_header("content-length", "0")
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()

    def receive(self):
        length = self.headers.get("content-length", "")
        if not re.fullmatch(r"[0-9]{1,12}", length):
            return 411
        if int(length) > BODY_BYTES_MAX:
            return 413
        raw_body = self.rfile.read(int(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if not verify(raw_body, headers, secret):
            return 401
        # Only now: before the signature is verified, the body is anybody's text.
        event = json.loads(raw_body)
        # Here a shop stores the event and answers; the work is done afterwards, by something that reads what was stored.
        print(f"{event['event']} {event['id']}: {sort_event(event)}", flush=True)
        return 204

    def log_message(self, *words):
        pass


if __name__ == "__main__":
    secret = check_secret(os.environ.get("DALASI_WEBHOOK_SECRET"))
    # One of the two is enough. Standard Webhooks also refuses what is old, and takes either secret during a rotation.
    verify = verify_service if os.environ.get("DALASI_SIGNATURE") == "service" else verify_standard
    server = Server(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Receiver)
    print(f"Listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
