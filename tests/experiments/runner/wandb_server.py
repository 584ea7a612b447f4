"""As much of the W&B server as one run talks to, on the loopback interface."""

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """As much of the W&B server as one run talks to, on the loopback interface; keeps what it is sent."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.queries: list[tuple[str, dict]] = []
        self.lines: dict[str, list[dict]] = {}
        self.files: dict[str, bytes] = {}
        self.connections: list = []
        self.silent = False
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def process_request(self, request, client_address) -> None:
        self.connections.append(request)
        super().process_request(request, client_address)

    def handle_error(self, request, client_address) -> None:
        """Clients that hang up are no news."""

    def die(self) -> None:
        """Refuse new connections and drop those there are, as when the network is lost."""
        self.shutdown()
        self.server_close()
        for connection in self.connections:
            connection.close()

    def fall_silent(self) -> None:
        """Accept requests and never answer them, as when the network swallows packets."""
        self.silent = True

    def answer(self, name: str, variables: dict) -> dict:
        """The data of one GraphQL operation."""
        project = {"id": "p", "name": variables.get("project"), "entity": {"id": "e", "name": "tester"}}
        bucket = {"id": "b", "name": variables.get("name"), "displayName": "run", "config": "{}", "project": project}
        files = [{"name": file, "uploadUrl": f"{self.url}/upload/{file}"} for file in variables.get("files", [])]
        artifact = {"id": "a", "state": "COMMITTED", "artifactSequence": {"id": "s", "latestArtifact": None}}
        return {
            "Viewer": {"viewer": {"id": "u", "entity": "tester", "username": "tester", "flags": "{}", "teams": None}},
            "UpsertBucket": {"upsertBucket": {"bucket": bucket | {"historyLineCount": 0}, "inserted": True}},
            "CreateRunFiles": {"createRunFiles": {"runID": "b", "uploadHeaders": [], "files": files}},
            "ArtifactType": {"project": {"artifact": None}},
            "CreateArtifact": {"createArtifact": {"artifact": artifact}},
        }.get(name, {})


class Handler(BaseHTTPRequestHandler):
    """One request to the `Server`."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""

    def reply(self, content: dict) -> None:
        if self.server.silent:
            time.sleep(3600)
        data = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def do_PUT(self) -> None:
        self.server.files[self.path.removeprefix("/upload/")] = self.body()
        self.reply({})

    def do_POST(self) -> None:
        body = self.body()
        if self.path.endswith("/graphql"):
            request = json.loads(body)
            name = re.findall(r"(?:query|mutation)\s+(\w+)", request["query"])[0]
            variables = request.get("variables") or {}
            self.server.queries.append((name, variables))
            self.reply({"data": self.server.answer(name, variables)})
            return
        if self.path.endswith("/file_stream"):
            for file, part in json.loads(body).get("files", {}).items():
                self.server.lines.setdefault(file, []).extend(map(json.loads, part["content"]))
        self.reply({"exitcode": None, "limits": {}})
