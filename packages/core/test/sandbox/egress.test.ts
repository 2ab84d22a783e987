import { once } from "node:events";
import { connect, createServer, type LookupFunction, type Server, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { temporaryFolder, webServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { Egress, type EgressOptions, type HostWish } from "../../src/sandbox/egress.ts";

/** A proxy, and raw bytes to it. */
async function openEgress(options: Omit<EgressOptions, "onRefused">) {
  const folder = await temporaryFolder();
  const refused: string[] = [];
  const egress = new Egress({
    ...options,
    onRefused: ({ name, port }: HostWish, reason) => refused.push(`${name}:${port} ${reason}`),
  });
  const path = join(folder.path, "net.sock");
  await egress.listen(path);
  return {
    refused,
    /** Sends a text, and returns all that comes back until the proxy closes, or until the text matches. */
    send(text: string, until?: RegExp): Promise<string> {
      const socket: Socket = connect(path);
      let got = "";
      socket.write(text, "latin1");
      return new Promise((done) => {
        socket.on("data", (data) => {
          got += data.toString("latin1");
          if (until?.test(got)) socket.destroy();
        });
        socket.on("error", () => {});
        socket.on("close", () => done(got));
      });
    },
    async [Symbol.asyncDispose]() {
      await egress.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const lookupOf =
  (addresses: Readonly<Record<string, readonly string[]>>, asked: string[] = []): LookupFunction =>
  (name, _, done) => {
    asked.push(name);
    const found = addresses[name] ?? [];
    done(
      null,
      found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };

const crlf = (...lines: readonly string[]) => `${lines.join("\r\n")}\r\n\r\n`;

describe("the proxy of a sandbox that may reach allowed.example:443 refuses", () => {
  const targets = [
    "evil.example:443",
    "allowed.example:80",
    "allowed.example@evil.example:443",
    "evil.example#allowed.example:443",
    "evil.example/allowed.example:443",
    "evil.example\\allowed.example:443",
    "evil.example%00.allowed.example:443",
    "evil.example;allowed.example:443",
    "allowed.example.evil.example:443",
    "evilallowed.example:443",
    "sub.allowed.example:443",
    "allowed.example:443:80",
    "allowed.example:0443443",
    "allowed.example:0",
    "allowed.example:65979",
    "allowed.example:-443",
    "allowed.example:443.0",
    "allowed.example",
    "allowed.example..:443",
    ".allowed.example:443",
    "*.example:443",
    `${"a.".repeat(130)}allowed.example:443`,
    `${"a".repeat(70)}.allowed.example:443`,
    "127.0.0.1:443",
    "localhost:443",
    "localhost.:443",
    "0:443",
    "0x7f000001:443",
    "0x7f.1:443",
    "2130706433:443",
    "017700000001:443",
    "127.1:443",
    "127.0.0.1.:443",
    "169.254.169.254:443",
    "[::1]:443",
    "[::ffff:127.0.0.1]:443",
    "[::ffff:7f00:1]:443",
    "[fe80::1%25lo]:443",
    "[fe80::1%lo]:443",
    "[64:ff9b::7f00:1]:443",
    "[::127.0.0.1]:443",
    "[allowed.example]:443",
    "::1:443",
    "http://allowed.example:443/",
    "%61llowed.example:443",
    "allowed\u2024example:443",
  ];

  test.each(targets)("CONNECT %s", async (target) => {
    const asked: string[] = [];
    await using proxy = await openEgress({ allowed: ["allowed.example:443"], lookup: lookupOf({}, asked) });
    const answer = await proxy.send(`CONNECT ${target} HTTP/1.1\r\nHost: allowed.example:443\r\n\r\n`);
    expect(answer).not.toMatch(/^HTTP\/1\.1 200/);
    expect(asked).toEqual([]);
  });

  test.each([
    ["an absolute address with an account", "http://allowed.example:443@127.0.0.1/"],
    ["an absolute address with a backslash", "http://127.0.0.1\\@allowed.example:443/"],
    ["an absolute address in octal digits", "http://0177.0.0.1:443/"],
    ["an absolute address in one number", "http://2130706433:443/"],
    ["another scheme", "ftp://allowed.example:443/"],
    ["a file", "file:///etc/passwd"],
    ["a path", "/"],
    ["a star", "*"],
  ])("%s", async (_, url) => {
    const asked: string[] = [];
    await using proxy = await openEgress({ allowed: ["allowed.example:443"], lookup: lookupOf({}, asked) });
    expect(await proxy.send(crlf(`GET ${url} HTTP/1.1`, "Host: allowed.example:443"))).toMatch(
      /^HTTP\/1\.1 (?:403|502)|^$/,
    );
    expect(asked).toEqual([]);
  });
});

describe("a listed name leads", () => {
  test.each([
    ["127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254"],
    ["100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1", "255.255.255.255", "240.0.0.1"],
    ["::1", "::", "fe80::1", "fd00:ec2::254", "::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "ff02::1"],
  ])("to no address of this machine, its networks and clouds: %s, %s …", async (...addresses) => {
    for (const address of addresses) {
      await using proxy = await openEgress({
        allowed: ["allowed.example:443"],
        lookup: lookupOf({ "allowed.example": [address] }),
      });
      expect(await proxy.send(crlf("CONNECT allowed.example:443 HTTP/1.1"))).toMatch(/^HTTP\/1\.1 403/);
      expect(proxy.refused).toEqual([
        `allowed.example:443 allowed.example leads to ${address}, which is not a public address`,
      ]);
    }
  });

  test("to no other address of this machine", async () => {
    const addresses = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address));
    await using proxy = await openEgress({
      allowed: ["allowed.example:443"],
      lookup: lookupOf({ "allowed.example": addresses }),
    });
    expect(await proxy.send(crlf("CONNECT allowed.example:443 HTTP/1.1"))).toMatch(/^HTTP\/1\.1 403/);
  });

  test("where it led when it was looked up, once for each connection", async () => {
    const asked: string[] = [];
    await using proxy = await openEgress({
      allowed: ["allowed.example:1"],
      lookup: (name, _, done) => {
        asked.push(name);
        done(null, [{ address: asked.length === 1 ? "10.0.0.1" : "127.0.0.1", family: 4 }]);
      },
    });
    for (let run = 1; run <= 3; run++) {
      expect(await proxy.send(crlf("CONNECT allowed.example:1 HTTP/1.1"))).toMatch(/^HTTP\/1\.1 403/);
      expect(asked.length).toBe(run);
    }
  });
});

describe("on a connection to a listed address", () => {
  test("the server gets the host that was checked, not the one of the request", async () => {
    await using web = await webServer(({ headers }, response) => response.end(`host ${headers["host"]}`));
    const { host } = new URL(web.origin);
    await using proxy = await openEgress({ allowed: [host] });
    const answer = await proxy.send(
      crlf(`GET http://${host}/ HTTP/1.1`, "Host: internal.example", "Connection: close"),
    );
    expect(answer).toContain(`host ${host}`);
  });

  test("two hosts in one request are refused", async () => {
    await using web = await webServer((_, response) => response.end("reached"));
    const { host } = new URL(web.origin);
    await using proxy = await openEgress({ allowed: [host] });
    const answer = await proxy.send(
      crlf(`GET http://${host}/ HTTP/1.1`, `Host: ${host}`, "Host: internal.example", "Connection: close"),
    );
    expect([answer.includes("reached") ? web.seen[0]?.headers["host"] : host]).toEqual([host]);
  });

  test("each request is checked, also the one behind an allowed one", async () => {
    await using web = await webServer((_, response) => response.end("reached"));
    await using other = await webServer((_, response) => response.end("escaped"));
    const [listed, unlisted] = [new URL(web.origin).host, new URL(other.origin).host];
    await using proxy = await openEgress({ allowed: [listed] });
    const answer = await proxy.send(
      crlf(`GET http://${listed}/ HTTP/1.1`, `Host: ${listed}`) +
        crlf(`GET http://${unlisted}/ HTTP/1.1`, `Host: ${unlisted}`, "Connection: close"),
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 403"]);
    expect(other.seen).toEqual([]);
  });

  test.each([
    ["two lengths", ["Content-Length: 3", "Content-Length: 60"]],
    ["a length and chunks", ["Content-Length: 3", "Transfer-Encoding: chunked"]],
    ["chunks in an unusual spelling", ["Transfer-Encoding: xchunked"]],
    ["a bare line feed", ["X: a\nTransfer-Encoding: chunked"]],
    ["a space before the colon", ["Transfer-Encoding : chunked"]],
    ["a folded line", ["X: a", " Transfer-Encoding: chunked"]],
  ])("a request with %s hides no other one", async (_, headers) => {
    await using web = await webServer((_, response) => response.end("reached"));
    await using other = await webServer((_, response) => response.end("escaped"));
    const [listed, unlisted] = [new URL(web.origin).host, new URL(other.origin).host];
    await using proxy = await openEgress({ allowed: [listed] });
    await proxy.send(
      `${crlf(`POST http://${listed}/first HTTP/1.1`, `Host: ${listed}`, ...headers)}0\r\n\r\n${crlf(`GET http://${unlisted}/ HTTP/1.1`, `Host: ${unlisted}`, "Connection: close")}`,
      /HTTP\/1\.1 [\s\S]*HTTP\/1\.1 |HTTP\/1\.1 200/,
    );
    expect(other.seen).toEqual([]);
    expect(web.seen.filter(({ path }) => path !== "/first")).toEqual([]);
  });

  test.each([
    ["the status 099", "HTTP/1.1 099 Odd\r\n\r\n"],
    ["the status 101", "HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
    ["no HTTP", "SSH-2.0-x\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["half an answer", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab"],
    ["control characters in a header", "HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 0\r\n\r\n"],
    ["nothing", ""],
  ])("an answer that is %s ends the request, and not the host", async (_, bytes) => {
    await using server = await rawServer(bytes);
    await using proxy = await openEgress({ allowed: [server.address] });
    const answer = await proxy.send(
      crlf(`GET http://${server.address}/ HTTP/1.1`, `Host: ${server.address}`, "Connection: close"),
    );
    expect(answer.length).toBeLessThan(400);
    // The proxy still works.
    expect(await proxy.send(crlf("CONNECT evil.example:443 HTTP/1.1"))).toMatch(/^HTTP\/1\.1 403/);
  });
});

test("a name with a dot at its end is the same name", async () => {
  await using server = await rawServer("hello");
  const [, port] = server.address.split(":");
  await using proxy = await openEgress({ allowed: [`localhost:${port}`] });
  expect(await proxy.send(crlf(`CONNECT localhost.:${port} HTTP/1.1`), /hello/)).toMatch(
    /^HTTP\/1\.1 200[\s\S]*hello$/,
  );
});

async function rawServer(bytes: string): Promise<AsyncDisposable & { readonly address: string }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.resume();
    socket.end(bytes, "latin1");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  return {
    address: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
