import type { SignInMessage } from "@fairlead/core/auth/browser/sign-in-ui";
import { expect, test } from "vitest";
import { messageLines, type UserLocation } from "../../src/sign-in/message-lines.ts";

const address: SignInMessage = {
  kind: "address",
  serverName: "docs",
  url: "https://sign-in.example/authorize?state=1",
  domain: "sign-in.example",
  issuer: "https://issuer.example",
  scopes: [],
  redirectUri: "http://127.0.0.1:4711/back",
  isListening: true,
  canPaste: true,
};

const lines = (message: SignInMessage, place: UserLocation = "desk", browserFirst = place === "desk") =>
  messageLines(message, { location: place, browserFirst }).join("\n");

test("the address is shown whole, with its domain and what is asked for, before anything is opened", () => {
  expect(lines({ ...address, scopes: ["read", "write"] })).toBe(
    `"docs" requires a sign-in at sign-in.example (authorization server https://issuer.example).
Requested scopes: read, write
Full address:

https://sign-in.example/authorize?state=1
`,
  );
});

test.each<[what: string, place: UserLocation, message: SignInMessage, ends: string]>([
  ["over SSH", "ssh", address, "  ssh -L 4711:127.0.0.1:4711 HOST        (HOST: as in your ssh command)"],
  ["over SSH without a listener", "ssh", { ...address, isListening: false }, "Copy that address and paste it here."],
  ["in a container", "container", address, "Copy that address and paste it here."],
  [
    "where nothing can be pasted",
    "no_screen",
    { ...address, canPaste: false },
    "Open the address in a browser and sign in.",
  ],
])("%s the person is told how to come back", (_what, place, message, ends) => {
  expect(lines(message, place).endsWith(ends)).toBe(true);
});

test.each<[what: string, message: SignInMessage, words: string]>([
  [
    "another issuer",
    { kind: "issuer_override", issuer: "https://mine.example", instead: ["https://theirs.example"] },
    "note: because of issuerOverride in your settings, you sign in at https://mine.example, not https://theirs.example",
  ],
  [
    "an issuer where none is named",
    { kind: "issuer_override", issuer: "https://mine.example", instead: [] },
    "note: because of issuerOverride in your settings, you sign in at https://mine.example",
  ],
  [
    "no browser",
    { kind: "browser", isOpened: false },
    "No browser could be opened here: open the address above yourself.",
  ],
  [
    "other scopes",
    { kind: "scopes_differ", requested: ["a", "b"], granted: [] },
    "note: requested scopes: a, b; granted: nothing",
  ],
  [
    "the end",
    { kind: "signed_in", serverName: "docs", issuer: "https://i.example", scopes: ["a"], account: "me@example.com" },
    'Signed in to "docs" at https://i.example as me@example.com, scopes: a.',
  ],
  [
    "the end, where another service issues the tokens",
    { kind: "signed_in", serverName: "docs", issuer: "https://i.example", tokenHost: "t.example:8443", scopes: [] },
    'Signed in to "docs" at https://i.example, tokens from t.example:8443.',
  ],
  [
    "the end of pasting",
    { kind: "paste_over", reason: "the input ended" },
    "You can no longer paste the address: the input ended. Fairlead still waits for the browser.",
  ],
  [
    "a code for another device",
    {
      kind: "device",
      serverName: "docs",
      issuer: "https://i.example",
      verificationUri: "https://i.example/device",
      verificationUriComplete: "https://i.example/device?code=AB-CD",
      userCode: "AB-CD",
      minutes: 10,
    },
    `"docs" requires a sign-in (authorization server https://i.example).
On any device, open

https://i.example/device

and type this code: AB-CD
Or open this address, which contains the code: https://i.example/device?code=AB-CD
The code expires in 10 minutes. Waiting for you to finish there.`,
  ],
])("%s is told", (_what, message, words) => {
  expect(lines(message)).toBe(words);
});

test("nothing that comes from elsewhere reaches the terminal as it is", () => {
  const bad = "\u001b[2J\u202e";
  const everything: readonly SignInMessage[] = [
    { ...address, serverName: bad, domain: bad, issuer: bad, tokenHost: bad, scopes: [bad], url: bad },
    { kind: "issuer_override", issuer: bad, instead: [bad] },
    { kind: "paste_unusable", reason: bad },
    { kind: "paste_over", reason: bad },
    {
      kind: "device",
      serverName: bad,
      issuer: bad,
      tokenHost: bad,
      verificationUri: bad,
      verificationUriComplete: bad,
      userCode: bad,
      minutes: 1,
    },
    { kind: "scopes_differ", requested: [bad], granted: [bad] },
    { kind: "signed_in", serverName: bad, issuer: bad, tokenHost: bad, scopes: [bad], account: bad },
  ];
  for (const message of everything)
    for (const character of bad.replaceAll(/[[2J]/g, "")) expect(lines(message, "ssh")).not.toContain(character);
});
