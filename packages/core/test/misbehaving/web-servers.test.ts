import {
  behaves,
  brokenJson,
  cutAt,
  empty,
  emptyJson,
  loginPage,
  noContent,
  redirectTo,
  status,
  type WebReply,
  webServer,
  wrongContentType,
} from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { answers, beside } from "./beside.ts";

const checkAddress =
  "Check that the server is running and that its address is right (/here/home/.gemini/settings.json:3).";
const page = "<!doctype html>\n<html><head><title>Sign in</title></head><body>\u001b[2JPlease sign in.</body></html>";
const greeting =
  '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"test","version":"1.0.0"}}}';

interface Told {
  readonly reason: string;
  readonly message: string;
  readonly next?: string;
  readonly evidence?: string;
}

function notMcp(what: string, evidence?: string): Told {
  const message = `"odd" is not an MCP server: ${what}`;
  if (evidence === undefined) return { reason: "not_mcp", message };
  return { reason: "not_mcp", message: `${message}; response begins ${JSON.stringify(evidence)}`, evidence };
}

function refused(code: number, more: { readonly next?: string; readonly later?: string } = {}): Told {
  const { later = "", ...rest } = more;
  const what = `the server answered with HTTP status ${code} with text/plain instead of a JSON-RPC response${later}`;
  const evidence = `status ${code}, sorry`;
  const message = `"odd" cannot be used: ${what}; response begins "${evidence}"`;
  return { reason: "http_status", message, evidence, ...rest };
}

const cut: Told = { reason: "unreachable", message: `"odd" cannot be reached: the server's response broke off` };
const next = "Try again later.";

/** What is told about a server that answers like this. */
const failures: readonly (readonly [string, WebReply, Told])[] = [
  [
    "answers with a login page",
    loginPage,
    notMcp(
      "the server answered with HTTP status 200 with text/html; charset=utf-8 instead of a JSON-RPC response",
      page,
    ),
  ],
  ["answers 204", noContent, notMcp("the server answered with HTTP status 204 instead of a JSON-RPC response")],
  ["answers 200 and nothing", empty, notMcp("the server answered with HTTP status 200 instead of a JSON-RPC response")],
  [
    "answers with empty JSON",
    emptyJson,
    notMcp("the server's HTTP response contains no JSON-RPC response to the request"),
  ],
  [
    "answers with broken JSON",
    brokenJson,
    notMcp("the server's response has the content type JSON but is not JSON", '{"jsonrpc":"2.0",'),
  ],
  [
    "answers under a wrong content type",
    wrongContentType,
    notMcp("the server answered with HTTP status 200 with text/plain instead of a JSON-RPC response", greeting),
  ],
  ["has no time now", status(503, { "retry-after": "120" }), refused(503, { next, later: "; Retry-After: 120" })],
  ["breaks down", status(500), refused(500, { next })],
  ["is not at this address", status(404), refused(404)],
  ["is cut off in its greeting", cutAt("initialize"), cut],
  ["is cut off in its list", cutAt("tools/list"), cut],
];

describe.each(["httpUrl", "url"])("a server on the web, configured with %s", (member) => {
  test.each(failures)("that %s", async (_name, reply, told) => {
    await using server = await webServer(reply);
    await beside({ [member]: `${server.origin}/mcp` }, ({ state }) => {
      expect(state()).toEqual({ status: "disconnected", next: checkAddress, ...told });
    });
  });

  test.each([401, 403])("that answers %i wants a sign-in, and no browser opens", async (code) => {
    await using server = await webServer(status(code, { "www-authenticate": "Bearer" }));
    await beside({ [member]: `${server.origin}/mcp` }, ({ state }) => {
      expect(state()).toEqual({
        status: "needs_auth",
        reason: "auth_required",
        message: `"odd" requires sign-in (HTTP ${code})`,
        next: "fairlead mcp auth odd",
        evidence: `status ${code}, sorry`,
      });
    });
  });

  test("that sends us elsewhere is not followed, and what it was to be told stays here", async () => {
    await using elsewhere = await webServer(behaves);
    await using server = await webServer(redirectTo(`${elsewhere.origin}/mcp`));
    await beside({ [member]: `${server.origin}/mcp`, headers: { Authorization: "Bearer tree" } }, ({ state }) => {
      expect(state()).toEqual({
        status: "disconnected",
        reason: "http_status",
        message: `"odd" cannot be used: the server redirects to another origin, ${elsewhere.origin}; Fairlead does not follow the redirect`,
        next: checkAddress,
      });
    });
    expect(elsewhere.seen).toEqual([]);
  });

  test("that behaves is connected", async () => {
    await using server = await webServer(behaves);
    await beside({ [member]: `${server.origin}/mcp` }, async ({ host, state }) => {
      expect(state()).toMatchObject({ status: "connected", peer: { transport: "http" }, offer: { tools: 1 } });
      await answers(host, "odd");
    });
  });
});

describe("on the way to a server", () => {
  test("no program listens", async () => {
    const host = "127.0.0.1:9";
    await beside({ url: `http://${host}` }, ({ state }) => {
      expect(state()).toEqual({
        status: "disconnected",
        reason: "unreachable",
        message: `"odd" cannot be reached: ${host}: ECONNREFUSED`,
        next: checkAddress,
      });
    });
  });

  test("the certificate is of an unknown authority, and nothing is sent", async () => {
    await using server = await webServer(behaves, { secure: true });
    const { host } = new URL(server.origin);
    await beside({ url: server.origin, headers: { Authorization: "Bearer tree" } }, ({ state }) => {
      expect(state()).toEqual({
        status: "disconnected",
        reason: "tls",
        message: `"odd" cannot be reached over TLS: the certificate of ${host} is not accepted: self-signed certificate`,
        next: "If your own certificate authority signed the certificate, set NODE_EXTRA_CA_CERTS to the authority's certificate file.",
      });
    });
    expect(server.seen).toEqual([]);
  });
});
