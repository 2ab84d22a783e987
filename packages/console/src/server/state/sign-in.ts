/** Signs in to a server from the console, over a connection of its own. The address arrives as a question. */

import type { SignInMessage, SignInUi } from "@fairlead/core/auth";
import { checkHasSignIn } from "@fairlead/core/auth/has-sign-in";
import { webUrl } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { type OpenedHost, openHost } from "@fairlead/core/host";
import { notConnectedError, type Server } from "@fairlead/core/server";
import type { JsonObject } from "@fairlead/wire";
import { stringOf } from "@fairlead/wire/json";
import type { Questions } from "./questions.ts";

interface SignInOptions {
  readonly host: OpenedHost;
  readonly questions: Questions;
  /** Tells the person what the sign-in reports. */
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Checks that a person can sign in to the server.
 *
 * @throws HostError `usage`, or the reason why the server may not start
 */
export function checkMaySignIn({ name, definition, state }: Server): void {
  if (definition === undefined) {
    if (state.status === "disconnected" && state.reason === "lazy")
      throw new HostError("usage", `"${name}" has no sign-in: it is built into Fairlead`, { serverName: name });
    throw notConnectedError(state);
  }
  checkHasSignIn(definition);
}

/**
 * Signs in. Resolves when the server accepts the tokens and the host's own connection uses them.
 *
 * @throws HostError with the reason why the sign-in failed
 */
export async function signIn(server: Server, { host, questions, note, signal }: SignInOptions): Promise<void> {
  const { name } = server;
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  const apart = openHost(host.configuration, {
    signIn: waysIn(name, questions, note, ending),
    interactive: false,
  });
  try {
    await apart.start({ servers: [name], signal: until });
    const state = apart.states().find((each) => each.name === name);
    if (state !== undefined && state.status !== "connected") throw notConnectedError(state);
  } catch (error) {
    // If the person stopped the sign-in, that is the reason to report, not the connection's error.
    ending.signal.throwIfAborted();
    throw error;
  } finally {
    ending.abort();
    await apart[Symbol.asyncDispose]();
  }
  await host.gateway.servers.find(name)?.restart();
}

function waysIn(server: string, questions: Questions, note: (text: string) => void, ending: AbortController): SignInUi {
  let url = "";

  function cancelled(): HostError {
    return new HostError("cancelled", `sign-in to "${server}" cancelled`, { serverName: server });
  }

  /** Asks with a form of one text. */
  async function askText(message: string, field: JsonObject, signal: AbortSignal): Promise<string> {
    const schema = { type: "object", properties: { value: field }, required: ["value"] };
    const asked = { kind: "form", server, from: "Fairlead", message, schema } as const;
    const answer = await questions.ask<"form">(asked, signal, ({ action }) => action);
    return answer?.action === "accept" ? (stringOf(answer.content["value"]) ?? "") : "";
  }

  return {
    browserFirst: false,
    again: true,
    show(message) {
      if (message.kind === "address") ({ url } = message);
      const text = noteOf(message);
      if (text !== undefined) note(text);
    },
    async paste(signal) {
      const opens = webUrl(url)?.href;
      const asked = { kind: "sign_in", server, url, opens, takesPastedAddress: true } as const;
      const answer = await questions.ask<"sign_in">(asked, signal, ({ action, pasted }) =>
        action === "cancel" ? "cancelled" : pasted === undefined ? "opened" : "an address was pasted",
      );
      if (answer?.pasted !== undefined) return answer.pasted;
      // The person has opened the address, so the browser's redirect answers. Undefined: the browser has answered.
      if (answer?.action === "accept") return new Promise(() => {});
      const reason = cancelled();
      if (!signal.aborted) ending.abort(reason);
      throw reason;
    },
    askClientId: ({ issuer, redirectUri, why }, signal) =>
      askText(
        `${issuer} gives Fairlead no client ID: ${why}. Register a client there with the redirect URI ${redirectUri}, and enter its ID.`,
        { type: "string", title: "Client ID" },
        signal,
      ),
    chooseIssuer: (issuers, signal) =>
      askText(
        "The server accepts several authorization servers. Which one do you want to use?",
        { type: "string", title: "Authorization server", enum: issuers },
        signal,
      ),
  };
}

/** What a person must know of a sign-in beside its question. */
function noteOf(message: SignInMessage): string | undefined {
  switch (message.kind) {
    case "issuer_override":
      return `because of issuerOverride in your settings, you sign in at ${message.issuer}`;
    case "paste_unusable":
      return `the pasted text cannot be used: ${message.reason}`;
    case "paste_over":
      return `you can no longer paste the address: ${message.reason}`;
    case "scopes_differ":
      return `requested scopes: ${message.requested.join(", ")}; granted: ${message.granted.join(", ")}`;
    case "signed_in":
      return `signed in to "${message.serverName}" at ${message.issuer}`;
    case "address":
    case "browser":
    case "device":
      return undefined;
  }
}
