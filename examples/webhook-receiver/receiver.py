"""Takes events, verifies their signatures and prints a line for each: python3 receiver.py PORT SECRET"""

import base64
import hashlib
import hmac
import http.server
import json
import sys
import time

TOLERANCE_SECONDS = 300


def is_genuine(secret, headers, body):
    """Whether a request is signed with the secret, as https://www.standardwebhooks.com says, and not long ago."""
    sent = headers.get("webhook-timestamp", "")
    if not sent.isdigit() or abs(time.time() - int(sent)) > TOLERANCE_SECONDS:
        return False
    signed = f"{headers['webhook-id']}.{sent}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    # While the sender replaces its secret, there is a signature with each.
    return any(hmac.compare_digest(expected, signature) for signature in headers.get("webhook-signature", "").split())


class Receiver(http.server.BaseHTTPRequestHandler):
    secret = ""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if not is_genuine(self.secret, self.headers, body):
            self.answer(401)
            return
        event = json.loads(body)
        # An event may come again. Who keeps events does so here, before the answer, and drops what is known by its id.
        account = f"{event['payment_type'].lower()}/{event['account_id']}"
        print(f"{account}@{event['version']}", event["type"], event.get("notes", {}).get("reference", ""), flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format, *args):
        pass


if __name__ == "__main__":
    port, Receiver.secret = sys.argv[1:]
    http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Receiver).serve_forever()
