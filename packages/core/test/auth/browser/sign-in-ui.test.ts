import { createServer } from "node:net";
import { browser, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import type { SignInUi } from "../../../src/auth/browser/sign-in-ui.ts";
import type { OAuthSettings } from "../../../src/settings/define/definition.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { both } from "../both-servers.ts";
import { type Person, person } from "../person.ts";
import { signingIn, storageIn } from "../signing-in.ts";

/** Fairlead does not listen at the address to which the browser returns. */
async function expectNobodyAt(url: string): Promise<void> {
  await expect(fetch(new URL(url).searchParams.get("redirect_uri") ?? "")).rejects.toThrow("fetch failed");
}

test("the whole address, its domain, the scopes and the way back are shown before anything is opened", async () => {
  await using servers = await both({}, { scopes: ["read"] });
  await using folder = await temporaryFolder();
  const someone = person({ onOpen: () => expect(someone.shown.length).toBe(1) });
  await signingIn(servers.guarded.url, someone, folder);
  const { issuer } = servers.authorization;
  const url = someone.opened[0] ?? "";
  const redirectUri = new URL(url).searchParams.get("redirect_uri");
  expect(someone.shown).toEqual([
    {
      kind: "address",
      serverName: "docs",
      url,
      domain: "127.0.0.1",
      issuer,
      scopes: ["read"],
      redirectUri,
      isListening: true,
      canPaste: false,
    },
    { kind: "browser", isOpened: true },
    { kind: "signed_in", serverName: "docs", issuer, scopes: ["read"] },
  ]);
  await expectNobodyAt(url);
});

test("a sign-in without the setting `oauth.audiences` stores no audiences", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  await signingIn(servers.guarded.url, person(), folder);
  const stored = await storageIn(folder).getCredentials(servers.guarded.url);
  expect(stored).toHaveProperty("tokens");
  expect(stored?.audiences).toBeUndefined();
});

describe("the browser is opened", () => {
  const cases: [string, Partial<SignInUi> | undefined, OAuthSettings, boolean][] = [
    ["when the person says yes", { consent: async () => true }, {}, true],
    ["without a question when the settings say so", undefined, { enabled: true }, true],
    ["not without a yes", undefined, {}, false],
    ["not where the address is to be opened elsewhere", { browserFirst: false }, { enabled: true }, false],
  ];
  test.each(cases)("%s", async (_, more, oauth, isOpened) => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    const someone = person();
    const { consent: _consent, ...others } = someone.ui;
    const shown: string[] = [];
    const ui: SignInUi = {
      ...others,
      ...more,
      show(message) {
        shown.push(message.kind);
        // Otherwise the user opens it by hand.
        if (message.kind === "address" && !isOpened) void browser(message.url);
      },
    };
    await signingIn(servers.guarded.url, { ui }, folder, { oauth });
    expect(shown).toEqual(isOpened ? ["address", "browser", "signed_in"] : ["address", "signed_in"]);
  });

  test("never when the person says no, and that is no failure", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    const someone = person({ ui: { consent: async () => false } });
    await expect(signingIn(servers.guarded.url, someone, folder)).rejects.toMatchObject({
      code: "auth_required",
      next: "fairlead mcp auth docs",
    });
    expect(someone.opened).toEqual([]);
  });
});

describe("the address that the browser ended at can be pasted", () => {
  test("while Fairlead listens", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    let paste: (text: string) => void = () => {};
    const pasted = new Promise<string>((resolve) => {
      paste = resolve;
    });
    const someone = person({
      ui: {
        browserFirst: false,
        paste: () => pasted,
        show(message) {
          if (message.kind === "address")
            void browser(message.url, { visits: false }).then(({ address }) => paste(address));
        },
      },
    });
    expect(await signingIn(servers.guarded.url, someone, folder)).toMatchObject({ serverName: "docs" });
  });

  test("where Fairlead cannot listen", async () => {
    const redirectUri = "https://callback.example/done";
    await using servers = await both({ clients: [{ clientId: "mine", redirectUris: [redirectUri] }] });
    await using folder = await temporaryFolder();
    const address = { redirectUri, isListening: false, canPaste: true };
    let url = "";
    const someone = person({
      ui: {
        browserFirst: false,
        paste: async () => (await browser(url, { visits: false })).address,
        show(message) {
          if (message.kind !== "address") return;
          expect(message).toMatchObject(address);
          ({ url } = message);
        },
      },
    });
    await signingIn(servers.guarded.url, someone, folder, { oauth: { clientId: "mine", redirectUri } });
  });

  test("and the question for a paste ends when the browser comes back by itself", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    let given: AbortSignal | undefined;
    const someone = person({
      ui: {
        paste(signal) {
          given = signal;
          return new Promise(() => {});
        },
      },
    });
    await signingIn(servers.guarded.url, someone, folder);
    expect(given?.aborted).toBe(true);
  });

  test("an end of input is said, and the browser can still come back", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    const someone: Person = person({
      ui: {
        browserFirst: false,
        paste: async () => undefined,
        show(message) {
          said.push(message.kind);
          if (message.kind === "address") url = message.url;
          if (message.kind === "paste_over") void browser(url);
        },
      },
    });
    let url = "";
    const said: string[] = [];
    await signingIn(servers.guarded.url, someone, folder);
    expect(said).toEqual(["address", "paste_over", "signed_in"]);
  });

  test("where Fairlead does not listen, an end of input is the end", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    const oauth = { clientId: "mine", redirectUri: "https://callback.example/done" };
    const someone = person({ ui: { browserFirst: false, paste: async () => undefined } });
    await expect(signingIn(servers.guarded.url, someone, folder, { oauth })).rejects.toMatchObject({
      code: "auth_failed",
      message: expect.stringContaining("failed at the browser step: no address was pasted"),
    });
  });

  test("if neither way is open, that is said at once", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    const oauth = { clientId: "mine", redirectUri: "https://callback.example/done" };
    await expect(signingIn(servers.guarded.url, person(), folder, { oauth })).rejects.toMatchObject({
      message: expect.stringContaining(
        "failed at the redirect listener step: Fairlead cannot listen at https://callback.example/done",
      ),
    });
  });
});

describe("nothing is left listening", () => {
  test("when the browser does not come back in five minutes", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    const clock = manualClock();
    const addresses: string[] = [];
    const someone = person({
      ui: {
        async openBrowser(url) {
          addresses.push(url);
          queueMicrotask(() => void clock.pass(300_000));
          return true;
        },
      },
    });
    await expect(signingIn(servers.guarded.url, someone, folder, { clock })).rejects.toMatchObject({
      code: "auth_failed",
      message: expect.stringContaining("failed at the browser step: the sign-in was not finished within 5 minutes"),
      next: "fairlead mcp auth docs",
    });
    await expectNobodyAt(addresses[0] ?? "");
  });

  test.each(["metadata", "registration", "consent", "browser", "token"])(
    "when it is called off at: %s",
    async (moment) => {
      await using servers = await both();
      await using folder = await temporaryFolder();
      const stop = new AbortController();
      const never = (): Promise<never> => {
        setImmediate(() => stop.abort());
        return new Promise(() => {});
      };
      const isEndpoint = moment === "metadata" || moment === "registration" || moment === "token";
      if (isEndpoint) servers.authorization.interrupt(moment, () => void never());
      const addresses: string[] = [];
      const someone = person({
        ui: {
          ...(moment === "consent" && { consent: never }),
          ...(moment === "browser" && {
            async openBrowser() {
              void never();
              return true;
            },
          }),
          show: (message) => message.kind === "address" && addresses.push(message.url),
        },
      });
      const attempt = signingIn(servers.guarded.url, someone, folder, { signal: stop.signal });
      await expect(attempt).rejects.toMatchObject({ code: "cancelled" });
      for (const url of addresses) await expectNobodyAt(url);
      expect(await storageIn(folder).listServers()).toEqual([]);
    },
  );

  test("a port that is taken is named, with what to set", async () => {
    await using servers = await both();
    await using folder = await temporaryFolder();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const address = taken.address();
    const callbackPort = typeof address === "object" && address !== null ? address.port : 0;
    await expect(signingIn(servers.guarded.url, person({ ui: { callbackPort } }), folder)).rejects.toMatchObject({
      message: expect.stringContaining(
        `failed at the redirect listener step: another program uses port ${callbackPort}`,
      ),
      next: expect.stringContaining("OAUTH_CALLBACK_PORT"),
    });
    await new Promise((resolve) => taken.close(resolve));
  });
});
