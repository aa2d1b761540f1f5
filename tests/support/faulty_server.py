#!/usr/bin/env python3
"""Serves files by ranges, with a fault: faulty_server.py FOLDER FAULT. Prints its port.

Faults: none; whole (ignores ranges), short (closes after half of every answer), short-once, busy (503 to everything),
busy-twice (503 to the second and third request), shifted (another range than the one asked for), longer (more bytes than
the range), nameless (no Content-Range), unknown (a Content-Range without the length), changes (another ETag from the
third request on), grows (another length from the third request on), dateless (neither ETag nor date), silent (no answer
from the second request on), forgets (redirects to a link that works twice).
"""

import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

folder, fault = Path(sys.argv[1]), sys.argv[2]
lock = threading.Lock()
n_requests = 0
uses_left = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def refuse(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"no\n")

    def redirect(self):
        with lock:
            link = f"/link{len(uses_left)}"
            uses_left[link] = 2
        self.send_response(302)
        self.send_header("Location", link + self.path)
        self.send_header("ETag", '"of the redirect"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        global n_requests
        with lock:
            n_requests += 1
            number = n_requests
        path = self.path
        if fault == "forgets":
            link = re.match(r"/link\d+", path)
            if not link:
                return self.redirect()
            with lock:
                uses_left[link[0]] -= 1
                if uses_left[link[0]] < 0:
                    return self.refuse(403)
            path = path[len(link[0]) :]
        if fault == "silent" and number >= 2:
            time.sleep(5)
            self.close_connection = True
            return None
        if fault == "busy" or (fault == "busy-twice" and number in (2, 3)):
            return self.refuse(503)
        file = folder / path.lstrip("/")
        if not file.is_file():
            return self.refuse(404)
        data = file.read_bytes()
        total = len(data) + (1 if fault == "grows" and number >= 3 else 0)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if fault == "whole" or not asked:
            self.send_response(200)
            part = data
        else:
            first, last = int(asked[1]), int(asked[2])
            if fault == "shifted" and number >= 2:
                first, last = first + 1, last + 1
            part = data[first : last + 1]
            if fault == "longer" and number >= 2:
                part += b"more"
            self.send_response(206)
            length = "*" if fault == "unknown" else total
            if fault != "nameless":
                self.send_header("Content-Range", f"bytes {first}-{last}/{length}")
        if fault != "dateless":
            self.send_header("ETag", '"two"' if fault == "changes" and number >= 3 else '"one"')
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if (fault == "short" and number >= 2) or (fault == "short-once" and number == 2):
            part = part[: len(part) // 2]
            self.close_connection = True
        try:
            self.wfile.write(part)
        except OSError:
            pass  # who does not want it hangs up
        return None


class Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # who has what he wants hangs up


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
