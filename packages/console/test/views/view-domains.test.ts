import { expect, test } from "vitest";
import { grantedSandbox, viewPolicy, wishesOf } from "../../src/server/views/view-domains.ts";

test.each([
  "https://api.example.com",
  "https://api.example.com:8443",
  "https://*.cdn.example.com",
  "wss://live.example.com",
  "HTTPS://API.Example.COM",
])("a view may ask to connect to %s", (domain) => {
  const { domains, refused } = wishesOf({ csp: { connectDomains: [domain] } });
  expect([domains.connect, refused]).toEqual([[domain.toLowerCase()], []]);
});

test.each([
  "*",
  "https:",
  "https://*",
  "https://*.com",
  "http://api.example.com",
  "ws://api.example.com",
  "data:",
  "blob:",
  "'self'",
  "'unsafe-eval'",
  "https://api.example.com; script-src *",
  "https://api.example.com https://evil.example",
  "https://api.example.com/path",
  "https://api.example.com?query",
  "https://user@api.example.com",
  "https://api.example.com:0",
  "https://api.example.com:99999",
  "https://-api.example.com",
  "https://api..example.com",
  "https://api.example.com.",
  "https://münchen.example",
  "https://localhost",
  "https://app.localhost",
  "https://127.0.0.1",
  "https://10.0.0.1",
  "https://0x7f.1",
  "https://2130706433",
  "https://[::1]",
  "https://printer.local",
  "https://wiki.corp",
  "https://intranet",
  "https://x.home.arpa",
  "\nhttps://api.example.com",
  "",
  7,
  null,
  { toString: "https://api.example.com" },
])("a view is never allowed to reach %j", (domain) => {
  for (const name of ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"]) {
    const { domains, refused } = wishesOf({ csp: { [name]: [domain] } });
    expect(Object.values(domains).flat()).toEqual([]);
    expect(refused).toHaveLength(1);
  }
});

test("a script cannot be loaded over a socket", () => {
  expect(wishesOf({ csp: { resourceDomains: ["wss://live.example.com"] } }).domains.load).toEqual([]);
});

test("very many domains are refused from the thirty-first on, and a person can read what is refused", () => {
  const many = Array.from({ length: 1000 }, (_, at) => `https://d${at}.example.com`);
  const { domains, refused } = wishesOf({ csp: { connectDomains: [...many, "x".repeat(10_000)] } });
  expect([domains.connect.length, refused.length]).toEqual([30, 30]);
  expect(wishesOf({ csp: { connectDomains: ["x".repeat(10_000)] } }).refused[0]?.domain).toHaveLength(200);
});

test.each([undefined, null, 3, "csp", [], { csp: "x" }, { csp: { connectDomains: "https://a.example" } }])(
  "metadata without domains, %j, allow none",
  (ui) => {
    const wishes = wishesOf(ui);
    expect(wishes).toEqual({
      domains: { connect: [], load: [], frame: [], base: [] },
      refused: [],
      permissions: [],
    });
    expect(viewPolicy(wishes, "http://127.0.0.1:1", "http://localhost:2/x/report")).toBe(
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; " +
        "media-src data: blob:; connect-src 'none'; frame-src 'none'; base-uri 'none'; worker-src 'none'; " +
        "object-src 'none'; form-action 'none'; frame-ancestors http://127.0.0.1:1; " +
        "report-uri http://localhost:2/x/report",
    );
  },
);

test("each use of a domain has its own directives, and the view learns what it has got", () => {
  const wishes = wishesOf({
    csp: {
      connectDomains: ["https://c.example.com"],
      resourceDomains: ["https://r.example.com"],
      frameDomains: ["https://f.example.com"],
      baseUriDomains: ["https://b.example.com"],
    },
    permissions: { camera: {}, microphone: false, unknown: {}, clipboardWrite: {} },
  });
  const policy = viewPolicy(wishes, "a", "r").split("; ");
  const having = (domain: string): readonly string[] =>
    policy.filter((directive) => directive.includes(domain)).map((directive) => directive.split(" ")[0] ?? "");
  expect(having("c.example")).toEqual(["connect-src"]);
  expect(having("r.example")).toEqual(["script-src", "style-src", "img-src", "font-src", "media-src"]);
  expect(having("f.example")).toEqual(["frame-src"]);
  expect(having("b.example")).toEqual(["base-uri"]);
  expect(wishes.permissions).toEqual(["camera", "clipboardWrite"]);
  expect(grantedSandbox(wishes)).toEqual({
    permissions: {},
    csp: {
      connectDomains: ["https://c.example.com"],
      resourceDomains: ["https://r.example.com"],
      frameDomains: ["https://f.example.com"],
      baseUriDomains: ["https://b.example.com"],
    },
  });
});
