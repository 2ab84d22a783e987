import { expect, test } from "vitest";
import { checkNetwork, readNetworkFacts } from "../../src/doctor/check-state.ts";
import { machine } from "../support/machine.ts";

const direct = { severity: "ok", message: "no proxy" };

function check(env: Readonly<Record<string, string>>, isUsed = true): unknown {
  return checkNetwork({ env, badCertificates: new Map(), isUsed });
}

const malformed = (name: string): object => ({
  severity: "problem",
  code: "proxy",
  message: `${name} is not a proxy URL: it must be http://HOST:PORT or https://HOST:PORT`,
  next: `export ${name}=http://HOST:PORT`,
});

test.each<[Readonly<Record<string, string>>, object[]]>([
  [{}, [direct]],
  [{ HTTPS_PROXY: "", NO_PROXY: "x" }, [direct]],
  [{ HTTPS_PROXY: "http://p:8080" }, [{ severity: "ok", message: "HTTPS_PROXY is http://p:8080" }]],
  [{ http_proxy: "p:8080" }, [{ severity: "ok", message: "http_proxy is p:8080" }]],
  ...[
    ["http://me:canary@p:1", "http://(hidden)@p:1"],
    ["HTTP://canary@p:1", "HTTP://(hidden)@p:1"],
    ["me:canary@p:99", "(hidden)@p:99"],
    ["http:me:canary@p:1", "(hidden)@p:1"],
    ["http://me:c@n@ry@p:1", "http://(hidden)@p:1"],
    ["http://me:1/canary@p:1", "http://(hidden)@p:1"],
    [" \nhttp://me:canary@p:1", "(hidden)@p:1"],
    ["http://p:1/?token=canary", "http://p:1/?token=(hidden)"],
  ].map(([value = "", shown]): [Readonly<Record<string, string>>, object[]] => [
    { HTTP_PROXY: value },
    [{ severity: "ok", message: `HTTP_PROXY is ${shown}` }],
  ]),
  [
    { HTTPS_PROXY: "http://p:1", NO_PROXY: "a,http://me:canary@b" },
    [
      { severity: "ok", message: "HTTPS_PROXY is http://p:1" },
      { severity: "ok", message: "without proxy: (hidden)@b" },
    ],
  ],
  ...[
    ["notaurl", "notaurl"],
    ["canary@p", "(hidden)@p"],
    ["[::1]", "[::1]"],
  ].map(([value = "", shown]): [Readonly<Record<string, string>>, object[]] => [
    { HTTPS_PROXY: value },
    [
      {
        severity: "warning",
        message: `HTTPS_PROXY is ${shown}, which has no scheme and no port: Fairlead uses the value as a host name`,
        next: "export HTTPS_PROXY=http://HOST:PORT",
      },
    ],
  ]),
  [{ HTTPS_PROXY: "socks5://me:canary@p:1" }, [malformed("HTTPS_PROXY")]],
  [{ ALL_PROXY: "http://" }, [malformed("ALL_PROXY")]],
  [
    { https_proxy: "http://a:1", HTTPS_PROXY: "http://b:1" },
    [
      { severity: "ok", message: "https_proxy is http://a:1" },
      {
        severity: "warning",
        message: "https_proxy and HTTPS_PROXY differ; https_proxy is used",
        next: "unset HTTPS_PROXY",
      },
    ],
  ],
  [
    { HTTPS_PROXY: "http://p:1", NO_PROXY: "localhost,.example" },
    [
      { severity: "ok", message: "HTTPS_PROXY is http://p:1" },
      { severity: "ok", message: "without proxy: localhost,.example" },
    ],
  ],
  [
    { HTTPS_PROXY: "http://p:1", no_proxy: "*" },
    [
      { severity: "ok", message: "HTTPS_PROXY is http://p:1" },
      { severity: "note", message: "no proxy is used: no_proxy is *", next: "unset no_proxy" },
    ],
  ],
  [
    { NODE_TLS_REJECT_UNAUTHORIZED: "0" },
    [
      direct,
      {
        severity: "warning",
        message:
          "NODE_TLS_REJECT_UNAUTHORIZED is 0: certificates are not checked, so an attacker on the network can impersonate any server",
        next: "unset NODE_TLS_REJECT_UNAUTHORIZED",
      },
    ],
  ],
  [{ NODE_TLS_REJECT_UNAUTHORIZED: "1" }, [direct]],
])("%o", (env, findings) => {
  expect(check(env)).toEqual(findings);
});

test("where no server is reached by its address, a proxy that makes no sense does no harm yet", () => {
  expect(check({ HTTPS_PROXY: "nonsense://" }, false)).toMatchObject([{ severity: "warning" }]);
});

test("files with certificates are looked into", async () => {
  await using here = await machine({ "good.pem": "-----BEGIN CERTIFICATE-----\n", "bad.pem": "no" });
  const at = (name: string): string => `${here.path}/${name}`;
  const env = {
    NODE_EXTRA_CA_CERTS: at("missing.pem"),
    SSL_CERT_FILE: at("good.pem"),
    SSL_CERT_DIR: here.home,
    REQUESTS_CA_BUNDLE: at("bad.pem"),
    CURL_CA_BUNDLE: at("good.pem/x"),
  };
  const facts = await readNetworkFacts({ env, home: here.home, cwd: here.project, platform: "linux" });
  const warning = (name: keyof typeof env, flaw: string): object => ({
    severity: "warning",
    message: `${name} (${env[name]}) has no effect: ${flaw}`,
    next: `unset ${name}`,
  });
  expect(checkNetwork({ ...facts, isUsed: true })).toEqual([
    direct,
    { severity: "ok", message: "certificates from SSL_CERT_FILE, SSL_CERT_DIR" },
    warning("NODE_EXTRA_CA_CERTS", "the file does not exist"),
    warning("REQUESTS_CA_BUNDLE", "the file contains no PEM certificate"),
    warning("CURL_CA_BUNDLE", "a part of its path is a file, not a folder"),
  ]);
});
