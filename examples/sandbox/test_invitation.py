import json, unittest, urllib.request

def call(method, path, body=None):
    headers = {"Authorization": "Bearer sk_test_sandbox", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request("http://127.0.0.1:4010" + path, data, headers, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)

class Invitations(unittest.TestCase):
    def test_expire_if_nobody_accepts_them(self):
        call("POST", "/_sandbox/reset")
        members = "/v0.1/merchants/MC0DEMO1/members"
        ann = call("POST", members, {"email": "ann@example.com", "roles": ["role_employee"]})
        call("PUT", "/_sandbox/clock", {"advance": "8d"})
        self.assertEqual(call("GET", f"{members}/{ann['id']}")["status"], "expired")
