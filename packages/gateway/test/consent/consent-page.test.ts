import { expect, test } from "vitest";
import { ApprovalNeeded, type ConsentQuestion } from "../../src/consent/confirmed-request.ts";
import { messagePage, pageHeaders, questionPage } from "../../src/consent/consent-page.ts";

const question: ConsentQuestion = {
  who: "client",
  client: "co<dex>",
  server: "files",
  kind: "tool",
  name: "write_file",
  args: { path: "a.txt", text: "it's" },
  reason: "",
  answers: ["no", "once"],
  key: "0".repeat(64),
  digest: "d1",
};

const bodyOf = (html: string): string => html.slice(html.indexOf("<body>"));

test("the page shows the user the client, the server, the name and the arguments, and a button for each answer", () => {
  expect(bodyOf(questionPage(question))).toBe(`<body><main>
<h1 tabindex="-1">Run files.write_file?</h1>
<p>The program <strong>co&#60;dex&#62;</strong> wants to run this. It does not see your answer on this page.</p>
<dl>
<dt>Server</dt><dd>files</dd>

<dt>Name</dt><dd>write_file</dd>

<dt id="arguments">Arguments, exactly as they will be sent (sha256 d1)</dt>
<dd><pre tabindex="0" role="region" aria-labelledby="arguments">{
  &#34;path&#34;: &#34;a.txt&#34;,
  &#34;text&#34;: &#34;it&#39;s&#34;
}</pre></dd>

</dl>

<form aria-label="Your answer">
<button name="decision" value="no">No</button>
<button name="decision" value="once">Yes, once</button>
</form>
</main></body>
</html>
`);
});

test("the page also shows the folder, the reason and the changes of the definition", () => {
  const html = questionPage({
    ...question,
    folder: "/home/a&b",
    reason: "rule 1",
    hints: "destructive (claimed by the server, not verified)",
    answers: ["no", "once", "conversation", "always"],
    change: [
      { member: "description", before: "old", after: "new" },
      { member: "inputSchema", after: "{}" },
      { member: "title", before: "T" },
    ],
  });
  expect(bodyOf(html)).toContain(`<dt>Folder</dt><dd>/home/a&#38;b</dd>
<dt>Name</dt><dd>write_file</dd>
<dt>Hints</dt><dd>destructive (claimed by the server, not verified)</dd>
<dt id="arguments">`);
  expect(bodyOf(html)).toContain(`</pre></dd>
<dt>Why you are asked</dt><dd>rule 1</dd>
</dl>
<table><caption>The definition has changed since you accepted it</caption>
<thead><tr><th scope="col">Member</th><th scope="col">Before</th><th scope="col">Now</th></tr></thead>
<tbody><tr><th scope="row">description</th><td>old</td><td>new</td></tr>
<tr><th scope="row">inputSchema</th><td>(absent)</td><td>{}</td></tr>
<tr><th scope="row">title</th><td>T</td><td>(removed)</td></tr></tbody></table>
<form aria-label="Your answer">
<button name="decision" value="no">No</button>
<button name="decision" value="once">Yes, once</button>
<button name="decision" value="conversation">This tool, until the program disconnects</button>
<button name="decision" value="always">This tool, always for this program (saves an approval)</button>
</form>`);
});

test.each<[ConsentQuestion["kind"], string, string]>([
  ["tool", "Run files.x?", "This tool, until the program disconnects"],
  ["prompt", "Get the prompt x of files?", "This tool, until the program disconnects"],
  ["sampling", "Answer a sampling request of files?", "This tool, until the program disconnects"],
  ["resource", "Read the resource x of files?", "All resources of the server, until the program disconnects"],
])("the page for a %s has the title %j and names what the long answer allows", (kind, title, label) => {
  const html = questionPage({ ...question, kind, name: "x", answers: ["conversation"] });
  expect(html).toContain(`<title>${title} – Fairlead</title>`);
  expect(html).toContain(`<button name="decision" value="conversation">${label}</button>`);
});

test("a page with one sentence escapes its texts", () => {
  const html = messagePage("Not <found>", "it's gone");
  expect(html).toMatch(
    /^<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Not &#60;found&#62; – Fairlead<\/title><style>\n:root \{/,
  );
  expect(bodyOf(html)).toBe(`<body><main>
<h1 tabindex="-1">Not &#60;found&#62;</h1>
<p role="status">it&#39;s gone</p>
</main></body>
</html>
`);
});

test("the browser may run only the page's own script and style, and may neither frame nor store the page", () => {
  const { "content-security-policy": policy = "", ...others } = pageHeaders;
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'$/,
  );
  expect(others).toEqual({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
});

test.each([
  ["tool", "files.x", "call it again"],
  ["prompt", "the prompt x of files", "send the request again"],
] as const)("the error for a %s that needs approval names the command", (kind, name, again) => {
  const error = new ApprovalNeeded(
    { server: "files", kind, name: "x", client: "codex", reason: "", answers: ["no", "once"] },
    "7QF",
  );
  expect(error).toMatchObject({
    code: "denied",
    message: `Not run: ${name} needs approval. To approve it, run: fairlead approvals allow 7QF, then ${again}.`,
    serverName: "files",
    next: "fairlead approvals allow 7QF",
    id: "7QF",
  });
});
