import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { checkAddresses, checkSameNetwork, checkUrl } from "../../src/net/address-rules.ts";

const isRefused = (check: () => void): boolean => {
  try {
    check();
    return false;
  } catch (error) {
    expect(error).toMatchObject({ name: "HostError", code: "denied" });
    return true;
  }
};

test.each([
  ["1.1.1.1", true],
  ["2606:4700::1111", true],
  // Networks that have only IPv6 write the addresses of others like this.
  ["2000::1", true],
  ["3fff:ffff::1", true],
  ["64:ff9b::1.1.1.1", true],
  ["64:ff9b::10.0.0.1", false],
  ["::ffff:1.1.1.1", true],
  ["10.0.0.1", false],
])("without a server nearby, only public addresses are asked: %s", (address, isAsked) => {
  expect(isRefused(() => checkAddresses("host", [address], []))).toBe(!isAsked);
});

test.each<[string, string, boolean]>([
  ["127.0.0.1", "127.0.0.1", true],
  ["127.0.0.1", "127.9.9.9", true],
  ["::1", "127.0.0.1", true],
  ["127.0.0.1", "10.0.0.1", false],
  ["127.0.0.1", "169.254.169.254", false],
  ["10.0.0.1", "10.0.0.1", true],
  ["10.0.0.1", "192.168.1.1", true],
  ["10.0.0.1", "fd00::1", true],
  ["100.64.0.1", "fd7a:115c:a1e0::1", true],
  ["10.0.0.1", "127.0.0.1", false],
  ["10.0.0.1", "169.254.169.254", false],
  ["169.254.1.1", "169.254.1.1", false],
  ["169.254.1.1", "169.254.169.254", false],
  ["0.0.0.0", "0.0.0.0", false],
  ["0.0.0.0", "127.0.0.1", false],
  // Some ways into the network answer every name with one of these.
  ["198.18.0.7", "198.18.0.9", true],
  ["1.1.1.1", "127.0.0.1", false],
  ["1.1.1.1", "10.0.0.1", false],
  ["1.1.1.1, 10.0.0.1", "10.0.0.1", false],
  ["1.1.1.1, 10.0.0.1", "10.0.0.2", false],
  ["10.0.0.1, fd00::1", "10.0.0.2", true],
])("with the server at %s, another host at %s is asked: %s", (near, address, isAsked) => {
  expect(isRefused(() => checkAddresses("host", [address], near.split(", "), "mcp.example"))).toBe(!isAsked);
});

test.each<[string, string, boolean]>([
  ["169.254.1.1", "169.254.1.1", true],
  ["169.254.1.1", "169.254.169.254", false],
  ["0.0.0.0", "0.0.0.0", true],
  ["0.0.0.0", "127.0.0.1", false],
  ["1.1.1.1, 10.0.0.1", "10.0.0.1", true],
  ["1.1.1.1, 10.0.0.1", "10.0.0.2", false],
])("with the server at %s, its own host name at %s is asked: %s", (near, address, isAsked) => {
  const host = "mcp.example";
  expect(isRefused(() => checkAddresses(host, [address], near.split(", "), host))).toBe(!isAsked);
});

test("a refusal says which address it was, and what would change it", () => {
  expect(() => checkAddresses("login.example", ["1.1.1.1", "10.0.0.1"], [])).toThrow(
    "Fairlead refused the request to login.example: 10.0.0.1 is not a public address",
  );
});

test.each<[string, string | undefined, boolean]>([
  ["https://login.example/", undefined, true],
  ["http://login.example/", undefined, false],
  ["http://login.example/", "https://login.example/mcp", false],
  ["http://login.example:8080/", "http://login.example/mcp", true],
  ["http://login.example.evil.example/", "http://login.example/mcp", false],
  ["http://localhost:8080/", undefined, true],
  ["http://127.0.0.1/", undefined, true],
  ["http://127.1/", undefined, true],
  ["http://[::1]/", undefined, true],
  ["http://app.localhost/", undefined, true],
  ["http://localhost.evil.example/", undefined, false],
  ["http://notlocalhost/", undefined, false],
  ["http://127.0.0.1.evil.example/", undefined, false],
  ["https://user@login.example/", undefined, false],
  ["https://:word@login.example/", undefined, false],
  ["ftp://login.example/", undefined, false],
  ["ws://localhost/", undefined, false],
  ["file:///etc/passwd", undefined, false],
  ["javascript:alert(1)", undefined, false],
])("%s, with a server at %s, may be asked by its looks: %s", (url, near, isAsked) => {
  expect(isRefused(() => checkUrl(new URL(url), near === undefined ? undefined : new URL(near)))).toBe(!isAsked);
});

test("the user reads why a URL or an address is refused", () => {
  const reasons = (check: () => void): unknown => {
    try {
      return check();
    } catch (error) {
      return error instanceof HostError ? [error.code, error.message, error.next] : error;
    }
  };
  const refused = "Fairlead refused the request to";
  expect(reasons(() => checkUrl(new URL("ftp://h/"), undefined))).toEqual([
    "denied",
    'Fairlead sends no requests to "ftp:" addresses',
    undefined,
  ]);
  expect(reasons(() => checkUrl(new URL("https://u:p@h.example/x"), undefined))).toEqual([
    "denied",
    `${refused} https://h.example: the URL contains a user name or password`,
    undefined,
  ]);
  expect(reasons(() => checkUrl(new URL("http://h.example/x"), undefined))).toEqual([
    "denied",
    `${refused} http://h.example: the URL must use https`,
    undefined,
  ]);
  expect(reasons(() => checkAddresses("h", ["1.1.1.1", "fd00::1", "10.0.0.1"], []))).toEqual([
    "denied",
    `${refused} h: fd00::1 is not a public address`,
    "Only an MCP server in the same network may refer Fairlead to such an address.",
  ]);
  expect(reasons(() => checkAddresses("app.localhost", ["127.0.0.1", "1.1.1.1", "9.9.9.9"], ["127.0.0.1"]))).toEqual([
    "denied",
    `${refused} app.localhost: it resolves to 1.1.1.1, which is not a loopback address`,
    undefined,
  ]);
  expect(reasons(() => checkAddresses("app.localhost", ["127.0.0.1", "::1"], ["127.0.0.1"]))).toBeUndefined();
  expect(reasons(() => checkSameNetwork("h", ["10.0.0.1", "1.1.1.1", "9.9.9.9"], ["10.0.0.9", "10.0.0.8"]))).toEqual([
    "denied",
    `${refused} h: its address was 10.0.0.9 and is now 1.1.1.1`,
    undefined,
  ]);
});

test.each<[string[], string[], boolean]>([
  [["1.1.1.1"], ["9.9.9.9"], true],
  [["1.1.1.1"], ["10.0.0.1"], false],
  [["1.1.1.1"], ["10.0.0.1", "1.1.1.1"], true],
  [["1.1.1.1"], ["9.9.9.9", "10.0.0.1"], false],
  [["10.0.0.2"], ["10.0.0.1"], true],
  [["1.1.1.1"], [], true],
  [[], ["10.0.0.1"], true],
])("Fairlead sends a request to the server's name, now at %j and before at %j: %s", (addresses, near, isAsked) => {
  expect(isRefused(() => checkSameNetwork("mcp.example", addresses, near))).toBe(!isAsked);
});

test.each([
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["::", false],
  ["ff02::1", false],
  ["fe80::1", false],
  ["not an address", false],
  ["198.18.0.1", true],
  ["192.168.0.1", true],
])("with the server at the same address, Fairlead sends a request to another host at %s: %s", (address, isAsked) => {
  expect(isRefused(() => checkAddresses("host", [address], [address], "mcp.example"))).toBe(!isAsked);
});

test.each(["4000::1", "1fff::1", "::2", "2001:db8::1", "64:ff9b:1::1.1.1.1"])(
  "%s is in no range that is assigned to hosts, so it is not public",
  (address) => {
    expect(isRefused(() => checkAddresses("host", [address], []))).toBe(true);
  },
);
