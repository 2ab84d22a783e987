/** Thousands of addresses that mean harm: no program is ever started with one. */

import { EventEmitter } from "node:events";
import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openUrl, webUrl } from "../../src/net/open-url.ts";
import { anyCharacter } from "../support/any-character.ts";
import { openersFolder } from "../support/openers.ts";

/** Half of what comes is of the kind that could pass, so that the other half is put to the test. */
const among = (honest: readonly string[], hostile: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(fc.constantFrom(...honest), fc.constantFrom(...hostile));
const words = (text: string): readonly string[] => text.split(" ");

const scheme = among(
  ["https:", "http:", "HTTPS:", "hTTp:"],
  [
    ...words(
      "file: javascript: JaVaScRiPt: data:text/html, vbscript: ftp: ms-settings: ms-msdt: search-ms: vscode: ssh:",
    ),
    ...words("blob:https: view-source:https: jar: -https: --new-window=https: http%73: https; \\\\ //"),
    "",
    " https:",
    "\thttps:",
    "https\n:",
  ],
);
const slashes = among(["//"], [...words("/ /// \\\\ \\/ //user:word@ //@ //%40 //-"), "", "//\t"]);
const host = among(
  words("login.example LOGIN.example. localhost 127.0.0.1 [::1] 0x7f.1 a_b.example login.example:8080"),
  [
    ...words("-a.example $(id).example `id`.example a;id.example a&calc.example a\".example a'.example a|b.example"),
    ...words(
      "%24(id).example a%00.example xn--80ak6aa92e.com аpple.com login.example:99999 login.example:-1 {a}.example",
    ),
    "a b.example",
    "",
    "example\u3002com",
    "[fe80::1%25eth0]",
    "..\\..\\calc.exe",
  ],
);
const piece = among(
  words(
    "/ /a ?x=1 &y=2 #z $(id) `id` ${IFS} ;id |id ||id &&id &calc ' \" \\ % %2 %zz %0a %22 ^ ! * ~ < > ( ) { } [ ] @ .. - ü",
  ),
  ["\n", "\r\n", "\t", "\0", "\u001b[2J", "\u202e", "\u200b", "\u2028", "\ufeff", " --flag", "\ud800", "%PATH%"],
);
const rest = fc.oneof(
  fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
  fc.string().map((text) => `/${text}`),
  fc.string({ unit: anyCharacter }).map((text) => `?${text}`),
  fc.constant("/authorize?state=1"),
);
const hostileUrl = fc.tuple(scheme, slashes, host, rest).map((parts) => parts.join(""));

const platforms = [
  { platform: "linux", env: { DISPLAY: ":0", WSL_INTEROP: "1" } },
  { platform: "darwin", env: {} },
  { platform: "win32", env: {} },
] as const;
const isPlain = /^https?:\/\/(?:[a-z0-9][a-z0-9._-]*|\[[0-9a-f:]+\])(?::\d+)?\/[A-Za-z0-9%._~:/?#@+,=&-]*$/;

const repeats = scaled(5000);

test("of thousands of hostile addresses none is opened but as a plain web address, exactly as it is shown", async () => {
  await using openers = await openersFolder();
  const started: string[] = [];
  const spawn = (_command: string, args: readonly string[]) => {
    started.push(...args);
    const child = Object.assign(new EventEmitter(), { unref: () => {} });
    queueMicrotask(() => child.emit("exit", 0));
    return child;
  };
  const counts = { refused: 0, opened: 0 };
  await fc.assert(
    fc.asyncProperty(hostileUrl, async (text) => {
      const shown = webUrl(text)?.href;
      for (const { platform, env } of platforms) {
        started.length = 0;
        const how = { ...openers.place(platform, env), spawn };
        const isOpen = await openUrl(text, how);
        // As it came, it is opened only if there was nothing to change about it.
        expect(isOpen).toBe(shown === text);
        if (shown !== undefined) expect(await openUrl(shown, how)).toBe(true);
        const urls = started.filter((argument) => argument !== "url.dll,FileProtocolHandler");
        expect(urls.filter((argument) => argument !== shown)).toEqual([]);
        expect(urls.filter((argument) => argument.startsWith("-") || !isPlain.test(argument))).toEqual([]);
      }
      counts[shown === undefined ? "refused" : "opened"] += 1;
    }),
    { seed: seed(), numRuns: repeats },
  );
  // Otherwise nothing would have been put to the test.
  expect(Math.min(counts.refused, counts.opened)).toBeGreaterThan(repeats / 50);
});

test("what may be opened keeps its form, and leads where the address led", () => {
  fc.assert(
    fc.property(fc.webUrl({ validSchemes: ["https"], withQueryParameters: true, withFragments: true }), (text) => {
      const url = webUrl(text);
      if (url === undefined) return;
      expect(webUrl(url.href)?.href).toBe(url.href);
      const original = new URL(text);
      expect(url.host).toBe(original.host);
      expect([...url.searchParams]).toEqual([...original.searchParams]);
    }),
    { seed: seed(), numRuns: scaled(500) },
  );
});
