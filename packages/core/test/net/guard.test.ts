import { isIP, type LookupFunction } from "node:net";
import { expect, test } from "vitest";
import { createGuard, type Guard } from "../../src/net/address-rules.ts";
import { createServerNetwork } from "../../src/net/server-network.ts";

const publicAddress = "93.184.216.34";
const found = (address: string) => ({ address, family: isIP(address) });

/** Answers as the system does: with one address, unless it is asked for all. */
function system(...addresses: readonly string[]): LookupFunction {
  return (_host, { all = false }, callback) => {
    const [first = ""] = addresses;
    if (all) callback(null, addresses.map(found));
    else callback(null, first, isIP(first));
  };
}

const failing: LookupFunction = (host, _options, callback) =>
  callback(Object.assign(new Error(`no ${host}`), { code: "ENOTFOUND" }), "");

function guard(resolve: LookupFunction, { near, signal }: { near?: string; signal?: AbortSignal } = {}): Guard {
  const server = near === undefined ? undefined : createServerNetwork(near, { resolve });
  return createGuard(server, resolve, signal ?? new AbortController().signal);
}

/** What a connection is told about a name. */
function lookedUp({ lookup }: Guard, host: string, options: { readonly all?: boolean } = {}): Promise<unknown> {
  return new Promise((resolve, reject) =>
    lookup(host, options, (error, address, family) =>
      error === null ? resolve(options.all ? address : [address, family]) : reject(error),
    ),
  );
}

const url = new URL("https://login.example/");

test.each([[[publicAddress, "10.0.0.1"]], [["10.0.0.1", publicAddress]]])(
  "every address of a name is checked, also where one is enough: %j",
  async (addresses) => {
    const checking = guard(system(...addresses));
    const denied = {
      code: "denied",
      message: "Fairlead refused the request to login.example: 10.0.0.1 is not a public address",
    };
    await expect(checking.checkBeforeProxy(url)).rejects.toMatchObject(denied);
    await expect(lookedUp(checking, "login.example")).rejects.toMatchObject(denied);
    await expect(lookedUp(checking, "login.example", { all: true })).rejects.toMatchObject(denied);
  },
);

test("a connection gets the addresses that were checked: one, or all", async () => {
  const checking = guard(system(publicAddress, "2606:2800:220:1::1"));
  expect(await lookedUp(checking, "login.example")).toEqual([publicAddress, 4]);
  expect(await lookedUp(checking, "login.example", { all: true })).toEqual([
    found(publicAddress),
    found("2606:2800:220:1::1"),
  ]);
});

test("a resolver that gives one address whatever it is asked for is believed, and checked", async () => {
  const one =
    (address: string): LookupFunction =>
    (_host, _options, callback) =>
      callback(null, address, isIP(address));
  expect(await lookedUp(guard(one(publicAddress)), "login.example", { all: true })).toEqual([found(publicAddress)]);
  await expect(lookedUp(guard(one("127.0.0.1")), "login.example")).rejects.toMatchObject({ code: "denied" });
});

test("a name without an address is unknown", async () => {
  await expect(lookedUp(guard(system()), "login.example", { all: true })).rejects.toMatchObject({ code: "ENOTFOUND" });
});

test("before a proxy, a name that is unknown here passes; an address that must not be asked does not", async () => {
  const checking = guard(failing);
  await checking.checkBeforeProxy(url);
  await expect(checking.checkBeforeProxy(new URL("https://[::1]/"))).rejects.toMatchObject({ code: "denied" });
  await expect(checking.checkBeforeProxy(new URL("https://10.0.0.1/"))).rejects.toMatchObject({ code: "denied" });
});

test("an address is checked without a lookup, a name is not", async () => {
  const checking = guard(failing);
  for (const host of ["10.0.0.1", "[fe80::1]", "[::ffff:127.0.0.1]"])
    await expect(checking.checkLiteral(new URL(`https://${host}/`))).rejects.toMatchObject({ code: "denied" });
  await checking.checkLiteral(new URL(`https://${publicAddress}/`));
  await checking.checkLiteral(url);
});

test("a server near us opens its own kind of network, and cannot speak from elsewhere", async () => {
  const near = "https://mcp.internal/mcp";
  await guard(system("10.0.0.1"), { near }).checkLiteral(new URL("https://10.9.9.9/"));
  await expect(guard(system("10.0.0.1"), { near }).checkLiteral(new URL("https://127.0.0.1/"))).rejects.toMatchObject({
    code: "denied",
  });
  const answers = [["10.0.0.1"], [publicAddress]];
  const moving: LookupFunction = (host, options, callback) =>
    system(...(answers.shift() ?? []))(host, options, callback);
  const server = createServerNetwork(near, { resolve: moving });
  // Where it is, is found out before its name comes to mean something else.
  await server?.addresses();
  const checking = createGuard(server, moving, new AbortController().signal);
  await expect(lookedUp(checking, "mcp.internal")).rejects.toMatchObject({
    message: `Fairlead refused the request to mcp.internal: its address was 10.0.0.1 and is now ${publicAddress}`,
  });
});

test("a private address among the public ones of a server is reachable by the server's own name only", async () => {
  const own = ["10.0.0.5", "2606:2800:220:1::1"];
  const resolve: LookupFunction = (host, options, callback) =>
    system(...(host === "mcp.example" ? own : ["10.0.0.5"]))(host, options, callback);
  const checking = guard(resolve, { near: "https://mcp.example/mcp" });
  const denied = { code: "denied", message: expect.stringContaining("10.0.0.5 is not a public address") };
  await expect(lookedUp(checking, "printer.example")).rejects.toMatchObject(denied);
  await expect(checking.checkBeforeProxy(url)).rejects.toMatchObject(denied);
  await expect(checking.checkLiteral(new URL("https://10.0.0.5/"))).rejects.toMatchObject(denied);
  expect(await lookedUp(checking, "mcp.example", { all: true })).toEqual(own.map(found));
  await checking.checkBeforeProxy(new URL("https://mcp.example/.well-known/oauth-protected-resource"));
});

test("who calls it off is not kept waiting by a resolver, and no proxy is asked then", async () => {
  const stop = new AbortController();
  const never: LookupFunction = () => {};
  const checking = guard(never, { signal: stop.signal });
  const reason = new Error("enough");
  const waiting = [expect(checking.checkBeforeProxy(url)).rejects.toBe(reason)];
  waiting.push(expect(lookedUp(checking, "login.example")).rejects.toBe(reason));
  stop.abort(reason);
  await Promise.all(waiting);
  await expect(lookedUp(checking, "login.example")).rejects.toBe(reason);
});
