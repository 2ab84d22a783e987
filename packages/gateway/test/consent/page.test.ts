import { request } from "node:http";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { createConsent } from "../../src/consent/consent.ts";
import { messageFor } from "../../src/consent/consent-form.ts";
import { questionPage } from "../../src/consent/consent-page.ts";
import { openInbox } from "../../src/consent/inbox.ts";
import { deferred } from "../support/deferred.ts";
import { sampleClient, sampleConfirmation, writeFile } from "../support/sample-confirmations.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const never = new AbortController().signal;

/** A question whose page is open. */
async function openPage(details = sampleConfirmation()) {
  const folder = await temporaryFolder();
  const clock = steppedClock();
  const saved: unknown[] = [];
  const options = {
    stateFolder: join(folder.path, "state"),
    clock,
    now: clock.date,
    saveRule: async (rule: unknown) => void saved.push(rule),
  };
  const consent = createConsent(options);
  const shown = deferred<JsonObject>();
  const completed: string[] = [];
  const client = sampleClient(
    { url: true, form: true },
    async (params) => {
      shown.resolve(params);
      return { action: "accept" };
    },
    { elicited: (id) => completed.push(id) },
  );
  const running = consent.port(client, writeFile, never)(async () => details.details);
  const ended = Promise.allSettled([running]);
  const params = await shown.promise;
  return {
    url: String(params["url"]),
    params,
    running,
    ended,
    saved,
    completed,
    clock,
    inbox: openInbox(options.stateFolder, options),
    outcomes: details.outcomes,
    async [Symbol.asyncDispose]() {
      await consent[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

function send(
  url: string,
  {
    method = "GET",
    body = "",
    headers = {},
  }: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers: { ...(body !== "" && { "content-type": "application/x-www-form-urlencoded" }), ...headers } },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
      },
    );
    sent.on("error", reject).end(body);
  });
}

const post = (url: string, decision: string, headers: Record<string, string> = {}) =>
  send(url, { method: "POST", body: `decision=${decision}`, headers });

test("the page shows the whole request and takes the answer, which the client never sees", async () => {
  await using here = await openPage();
  expect(here.params).toMatchObject({ mode: "url", elicitationId: expect.any(String) });
  expect(here.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/approve\/[\w-]{43}$/);
  const page = await send(here.url);
  for (const text of ["files.write_file", "&#34;path&#34;: &#34;a.txt&#34;", "rule 1 of fairlead.toml", "claude-code"])
    expect(page.body).toContain(text);
  for (const answer of ["no", "once", "conversation", "always"]) expect(page.body).toContain(`value="${answer}"`);
  expect(page.body).not.toContain("<script");
  expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
  expect(page.headers["x-frame-options"]).toBe("DENY");
  // Otherwise browsers send the form with `Origin: null`, which is refused.
  expect(page.headers["referrer-policy"]).toBe("same-origin");
  expect(here.outcomes).toEqual([]);

  expect((await post(here.url, "once", { origin: new URL(here.url).origin })).body).toContain("yes, once");
  await here.running;
  expect(here.outcomes).toEqual([["proceed_once", "page"]]);
  expect(here.completed).toEqual([here.params["elicitationId"]]);
  // The address works once.
  expect((await post(here.url, "no")).status).toBe(404);
  expect((await send(here.url)).status).toBe(404);
});

test("a person whose yes is about an earlier definition reads that nothing was run", async () => {
  await using here = await openPage(sampleConfirmation({ isOutdated: () => true }));
  const page = await post(here.url, "once");
  expect(page.body).toContain("The definition of files.write_file changed while this question was open.");
  expect(page.body).toContain("Nothing was run");
  expect(page.body).toContain("Ask the program to try again");
  await here.ended;
});

test.for([
  ["no", "cancel", 0],
  ["conversation", "proceed_always_tool", 0],
  ["always", "proceed_always_tool", 1],
] as const)("the button %s is %s", async ([decision, outcome, rules]) => {
  await using here = await openPage();
  await post(here.url, decision);
  await here.ended;
  expect(here.outcomes).toEqual([[outcome, "page"]]);
  expect(here.saved).toHaveLength(rules);
});

test("foreign hosts, foreign pages, wrong addresses and wrong answers change nothing", async () => {
  await using here = await openPage();
  const { port, origin } = new URL(here.url);
  const refused = [
    await post(here.url, "once", { host: "evil.example" }),
    await post(here.url, "once", { host: `evil.example:${port}` }),
    await post(here.url, "once", { origin: "https://evil.example" }),
    await post(here.url, "once", { origin: "null" }),
    await post(here.url, "once", { "sec-fetch-site": "cross-site" }),
    await send(here.url, { headers: { host: "evil.example" } }),
    await send(here.url, { method: "PUT" }),
    await send(here.url, { method: "OPTIONS" }),
    await post(`${origin}/approve/${"A".repeat(43)}`, "once"),
    await send(`${origin}/approve/`),
    await send(`${origin}/`),
    await post(here.url, "yes"),
    await post(here.url, ""),
  ];
  expect(refused.map(({ status }) => status)).toEqual([
    403, 403, 403, 403, 405, 403, 405, 405, 404, 404, 404, 400, 400,
  ]);
  expect(refused.every(({ headers }) => headers["access-control-allow-origin"] === undefined)).toBe(true);
  expect(
    await send(here.url, { method: "POST", body: `decision=${"x".repeat(5000)}` }).catch(() => ({ status: 500 })),
  ).toMatchObject({ status: 500 });
  expect(here.outcomes).toEqual([]);
  await post(here.url, "no");
  await here.ended;
});

test("hostile text is escaped, and hidden characters are shown", async () => {
  const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(1)>\u202Etxt.exe`;
  await using here = await openPage(
    sampleConfirmation({
      args: { [hostile]: hostile },
      rule: { decision: "ask_user", tier: "user", text: hostile },
      change: [{ member: hostile, before: hostile, after: hostile }],
    }),
  );
  const { body } = await send(here.url);
  expect(body).not.toMatch(/<script|<img|\u202E/);
  expect(body).toContain("⟨U+202E⟩");
  expect(body).toContain("The definition has changed");
  // A rule for all later calls is not offered for a definition that is not accepted yet.
  expect(body).not.toContain('value="always"');
  await post(here.url, "no");
  await here.ended;
});

test("a page that is answered after the inbox says who answered", async () => {
  await using here = await openPage();
  const [entry] = await here.inbox.list();
  await here.inbox.answer(entry?.id ?? "", "no", "fairlead approvals");
  await here.ended;
  expect((await post(here.url, "once")).body).toContain("already has an answer, from fairlead approvals: no");
  expect(here.outcomes).toEqual([["cancel", "inbox"]]);
});

test("a page that is answered too late gives a yes for the next identical call", async () => {
  await using here = await openPage();
  await here.clock.fire(300_000);
  await here.ended;
  expect(here.outcomes).toEqual([]);
  expect((await post(here.url, "once")).body).toContain("yes, once");
  expect(here.outcomes).toEqual([]);
  expect(await here.inbox.list()).toEqual([]);
});

test("a yes to one resource for the conversation says that it covers all of its server", () => {
  const asked = { client: "cursor", server: "files", args: {}, reason: "", key: "", digest: "0" };
  const answers = ["no", "once", "conversation"] as const;
  const resource = { ...asked, kind: "resource", name: "file:///a", answers } as const;
  const tool = { ...asked, kind: "tool", name: "write", answers } as const;
  expect(questionPage(resource)).toContain(">Yes, all resources of this server in this conversation<");
  expect(messageFor(resource)).toContain("allows all resources of files");
  expect(questionPage(tool)).toContain(">Yes, in this conversation<");
  expect(messageFor({ ...resource, answers: ["no", "once"] })).not.toContain("all resources");
});
