// A small OpenID Connect provider on loopback, which vouches for whomever a test says.
import { createHash, createSign, generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const b64 = (data: string | Buffer) => Buffer.from(data).toString("base64url");

export class Provider {
  /** What it says of the next person who comes; nothing: it refuses. */
  claims?: Record<string, unknown>;
  url = "";
  private server?: Server;
  private readonly keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  private readonly codes = new Map<string, { challenge: string; claims: Record<string, unknown> }>();

  static async start(): Promise<Provider> {
    const p = new Provider();
    p.server = createServer((q, a) => void p.answer(q, a));
    await new Promise<void>((done) => p.server?.listen(0, "127.0.0.1", done));
    p.url = `http://127.0.0.1:${(p.server.address() as AddressInfo).port}`;
    return p;
  }

  stop() {
    this.server?.closeAllConnections();
    this.server?.close();
  }

  private async answer(q: IncomingMessage, a: ServerResponse) {
    const at = new URL(q.url ?? "/", this.url);
    const json = (v: unknown, status = 200) =>
      a.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(v));
    switch (at.pathname) {
      case "/.well-known/openid-configuration":
        return json({
          issuer: this.url,
          authorization_endpoint: `${this.url}/auth`,
          token_endpoint: `${this.url}/token`,
          jwks_uri: `${this.url}/keys`,
          id_token_signing_alg_values_supported: ["RS256"],
        });
      case "/keys":
        return json({
          keys: [{ ...this.keys.publicKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: "one" }],
        });
      case "/auth":
        return this.auth(at.searchParams, a);
      case "/token": {
        let body = "";
        for await (const chunk of q) body += chunk;
        const token = this.token(new URLSearchParams(body));
        return token ? json(token) : json({ error: "invalid_grant" }, 400);
      }
      default:
        return json({}, 404);
    }
  }

  private auth(asked: URLSearchParams, a: ServerResponse) {
    const back = new URL(asked.get("redirect_uri") ?? "");
    back.searchParams.set("state", asked.get("state") ?? "");
    if (this.claims) {
      const code = randomUUID();
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        iss: this.url,
        aud: asked.get("client_id"),
        iat: now,
        exp: now + 60,
        nonce: asked.get("nonce"),
        ...this.claims,
      };
      this.codes.set(code, { challenge: asked.get("code_challenge") ?? "", claims });
      back.searchParams.set("code", code);
    } else back.searchParams.set("error", "access_denied");
    a.writeHead(302, { Location: back.href }).end();
  }

  private token(given: URLSearchParams) {
    const known = this.codes.get(given.get("code") ?? "");
    this.codes.delete(given.get("code") ?? "");
    const proof = createHash("sha256")
      .update(given.get("code_verifier") ?? "")
      .digest("base64url");
    if (proof !== known?.challenge) return undefined;
    const text = `${b64('{"alg":"RS256","kid":"one"}')}.${b64(JSON.stringify(known.claims))}`;
    const signature = createSign("RSA-SHA256").update(text).sign(this.keys.privateKey);
    return { access_token: "x", token_type: "Bearer", expires_in: 60, id_token: `${text}.${b64(signature)}` };
  }
}
