import { request } from "node:http";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { systemClock } from "@fairlead/core/clock";
import { expect, test } from "vitest";
import { type StoppedByPolicy, ViewFrames } from "../../src/server/views/view-frames.ts";

interface Answer {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

interface Sent {
  readonly at?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function send(
  address: string,
  { at = "127.0.0.1", method = "GET", headers = {}, body = "" }: Sent = {},
): Promise<Answer> {
  const { port, pathname, host: named } = new URL(address);
  return new Promise((resolve, reject) => {
    const sending = request(
      { host: at, port, path: pathname, method, headers: { host: named, ...headers } },
      (answer) => {
        text(answer).then(
          (read) => resolve({ status: answer.statusCode, headers: answer.headers, body: read }),
          reject,
        );
      },
    );
    sending.on("error", reject);
    sending.end(body);
  });
}

const wishes = { domains: { connect: [], load: [], frame: [], base: [] } };

async function listening() {
  const frames = await ViewFrames.listen(systemClock);
  frames.showIn("http://127.0.0.1:7");
  const stopped: StoppedByPolicy[] = [];
  return {
    frames,
    stopped,
    add: (html: string) => frames.add({ html, wishes, onStopped: (each) => stopped.push(each) }),
    [Symbol.asyncDispose]: () => frames.close(),
  };
}

test("the page of a view can be loaded once, in a frame, under its own name only", async () => {
  await using here = await listening();
  const { address } = here.add("<p>view</p>");
  expect(address).toMatch(/^http:\/\/localhost:\d+\/[\w-]{43}$/);
  const { port } = new URL(address);
  for (const host of [`127.0.0.1:${port}`, "localhost", `evil.example:${port}`, `[::1]:${port}`])
    expect([host, (await send(address, { headers: { host } })).status]).toEqual([host, 404]);
  for (const destination of ["document", "script", "image", "empty"])
    expect((await send(address, { headers: { "sec-fetch-dest": destination } })).status).toBe(404);
  for (const method of ["POST", "OPTIONS", "HEAD"]) expect((await send(address, { method })).status).toBe(404);
  const loaded = await send(address, { headers: { "sec-fetch-dest": "iframe" } });
  expect(loaded.status).toBe(200);
  expect(loaded.body).toContain("\\u003cp>view\\u003c/p>");
  expect(loaded.headers).toMatchObject({
    "content-security-policy": expect.stringContaining(
      `frame-ancestors http://127.0.0.1:7; report-uri ${address}/report`,
    ),
    "permissions-policy": expect.stringContaining("camera=()"),
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
  expect((await send(address)).status).toBe(404);
  expect((await send(`${here.frames.origin}/`)).status).toBe(404);
});

test("both addresses of localhost are taken, and answer", async () => {
  await using here = await listening();
  const { address } = here.add("x");
  const port = Number(new URL(address).port);
  for (const host of ["127.0.0.1", "::1"]) {
    const other = createServer();
    const failure = await new Promise((resolve) => {
      other.once("error", resolve);
      other.listen({ host, port, exclusive: true }, () => resolve("listens"));
    });
    expect([host, failure]).toEqual([host, expect.objectContaining({ code: "EADDRINUSE" })]);
  }
  expect((await send(address, { at: "::1" })).status).toBe(200);
});

test("nothing in the HTML of a view ends the script of the page around it", async () => {
  await using here = await listening();
  const html = `</script><script>parent.x = 1</script><!--<script>\u2028"\\${"`"}`;
  const { body } = await send(here.add(html).address);
  expect(body.match(/<script/g)).toHaveLength(1);
  expect(body.match(/<\/script/g)).toHaveLength(1);
  expect(body).not.toContain("<!--");
  const [, written = ""] = /view\.srcdoc = (.*);/.exec(body) ?? [];
  expect(JSON.parse(written)).toBe(html);
});

test("the browser reports what the policy has stopped; a closed view takes no more reports", async () => {
  await using here = await listening();
  const frame = here.add("x");
  const report = (body: string): Promise<Answer> => send(`${frame.address}/report`, { method: "POST", body });
  const stopped = { "effective-directive": "connect-src", "blocked-uri": "https://evil.example/x" };
  expect((await report(JSON.stringify({ "csp-report": stopped }))).status).toBe(204);
  expect(here.stopped).toEqual([{ directive: "connect-src", blocked: "https://evil.example/x" }]);
  for (const body of [
    "",
    "[]",
    "{",
    '{"csp-report": 3}',
    JSON.stringify({ "csp-report": { ...stopped, x: "x".repeat(20_000) } }),
  ])
    expect((await report(body)).status).toBe(204);
  expect(here.stopped).toHaveLength(1);
  frame[Symbol.dispose]();
  expect((await report(JSON.stringify({ "csp-report": stopped }))).status).toBe(404);
});
