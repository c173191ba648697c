"""An agent in Python whose nightly compaction Dormouse schedules.

Dormouse sends each session to POST /compact, signed. This program summarises what is due, and hands the summary back;
exactly the messages that it has summarised are then replaced by a capsule. Standard library only.

    DIGEST_SECRET=whsec_... DORMOUSE_URL=http://127.0.0.1:3000 python3 compacting_agent.py 8000

In a deployment with `auth: jwt` DORMOUSE_TOKEN is a token for the API. Behind a proxy that speaks TLS it is the url of
`webhook({ url, secret })`.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

API = os.environ.get("DORMOUSE_URL", "http://127.0.0.1:3000")
KEY = base64.b64decode(os.environ["DIGEST_SECRET"].removeprefix("whsec_"))
TOLERANCE_SECS = 300


def summarize(previous, messages):
    """Yours: a call of a model, most likely. `previous` is the summary so far, or None."""
    said = [f"{message['sender']['id']}: {message['content']}" for message in messages]
    return "\n".join(filter(None, [previous, *said]))


def compact(agent, session):
    """Replaces what is due by capsules until nothing is. Returns how many messages."""
    of_session = f"/v1/agents/{quote(agent, safe='')}/sessions/{quote(session, safe='')}"
    compacted = 0
    while True:
        due = call("GET", f"{of_session}/messages?due=compaction")
        if not due["items"]:
            return compacted
        capsule = {
            "messageIds": [message["id"] for message in due["items"]],
            "summary": summarize(due.get("previousSummary"), due["items"]),
            "previous": due.get("previous"),
            "moment": due["moment"],
        }
        try:
            call("POST", f"{of_session}/capsules", capsule)
        except HTTPError as error:
            # 409: something of the session was forgotten, or summarised, meanwhile. Nothing was changed: look again.
            if error.code != 409:
                raise
        else:
            compacted += len(due["items"])


def call(method, path, body=None):
    headers = {"content-type": "application/json"}
    if "DORMOUSE_TOKEN" in os.environ:
        headers["authorization"] = f"Bearer {os.environ['DORMOUSE_TOKEN']}"
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(API + path, data, headers, method=method), timeout=30) as answer:
        return json.load(answer)


def is_signed(headers, body):
    """Standard Webhooks: HMAC-SHA256 of id, time and body, not older or newer than five minutes."""
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > TOLERANCE_SECS:
        return False
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256)).decode()
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in given)


class Actions(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_signed(self.headers, body):
            return self.answer(401, {"title": "the signature does not fit"})
        job = json.loads(body)
        try:
            self.answer(200, {"compacted": compact(job["agent"], job["session"]["id"])})
        except HTTPError as error:
            self.answer(502, {"title": f"Dormouse answered {error.code}", "detail": error.read().decode()})

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json" if status < 400 else "application/problem+json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Nothing: a path may name somebody."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Actions)
    print(f"ready on port {server.server_port}", flush=True)
    server.serve_forever()
