/**
 * Legacy sessions that any replica serves. What a replica must know of a session is encrypted in its id, bound to its
 * user and client; what changes later, and messages for another replica, are in the store.
 */

import { randomBytes } from "node:crypto";
import type { ClientEndpoint } from "@fairlead/gateway/bridge/modern-contexts";
import { isObject, listOf, objectOf, parseJson, stringOf } from "@fairlead/wire/json";
import type { HttpListener, HttpSessions, RpcMessage } from "@fairlead/wire/serve";
import { errorMessage } from "@fairlead/wire/text";
import { type Bound, decryptToken, encryptToken } from "../store/encryption.ts";
import { addressHint, type Hints } from "../store/hints.ts";
import type { KeyRing } from "../store/key-ring.ts";
import type { MessageStore, StoredMessage } from "../store/messages.ts";
import type { Log } from "./log.ts";

export interface SharedSessionsOptions {
  /** The name of this replica. */
  readonly process: string;
  readonly ring: KeyRing;
  readonly messages: MessageStore;
  readonly hints: Hints;
  readonly log: Log;
  /** In milliseconds since 1970. */
  readonly now: () => number;
}

/** Milliseconds after which a client must begin a new session. */
const lifetime = 86_400_000;
/** How long a message waits for another replica, in milliseconds. */
const waits = 60_000;
/** Longest capabilities in an id, in characters: headers have a limit. Of longer ones, only their names are kept. */
const longestCapabilities = 3000;
/** When so many more sessions are noted, those that are not open here any more are forgotten. */
const many = 1000;

/** What the id of a session contains. */
interface SessionFacts {
  readonly id: string;
  readonly until: number;
  readonly version: string;
  readonly capabilities: object;
  readonly client: object;
}

/** A message in the store. */
type SessionNews =
  | { readonly kind: "change"; readonly from: string; readonly request: RpcMessage }
  | { readonly kind: "pass"; readonly from: string; readonly to: string | undefined; readonly message: RpcMessage }
  | { readonly kind: "end"; readonly from: string };

/** A session that is open here. */
interface OpenSession {
  readonly sessionId: string;
  readonly address: string;
  /** The number of the latest message that was read. Numbers of messages that are sent at once may come out of order. */
  readonly seen: Set<number>;
}

export class SharedSessions implements HttpSessions<ClientEndpoint>, Disposable {
  readonly process: string;
  readonly #options: SharedSessionsOptions;
  readonly #sessions = new Map<string, OpenSession>();
  /** By the ids of hints. */
  readonly #byHint = new Map<string, OpenSession>();
  /** The sessions of which news is read next. */
  readonly #toRead = new Set<OpenSession>();
  /** The reading that begins when the one that runs has ended. Requests that come before it begins share it. */
  #nextReading: Promise<void> | undefined;
  #reading: Promise<void> = Promise.resolve();
  readonly #stop: () => void;
  #listener: HttpListener | undefined;
  #forgetAt = many;

  constructor(options: SharedSessionsOptions) {
    this.process = options.process;
    this.#options = options;
    this.#stop = options.hints.listen("message", (hint) => {
      const sessions = hint === undefined ? [...this.#sessions.values()] : [this.#byHint.get(hint) ?? []].flat();
      for (const session of sessions) void this.#readNews(session);
    });
  }

  /** Whose sessions these are. Called once, before the first request. */
  serve(listener: HttpListener): void {
    this.#listener = listener;
  }

  idOf(context: ClientEndpoint, initialize: RpcMessage): string {
    const { ring, now } = this.#options;
    const params = objectOf(initialize["params"]);
    const { name, version } = objectOf(params["clientInfo"]);
    const facts: SessionFacts = {
      id: randomBytes(12).toString("base64url"),
      until: now() + lifetime,
      version: stringOf(params["protocolVersion"])?.slice(0, 32) ?? "",
      capabilities: boundedCapabilities(objectOf(params["capabilities"])),
      client: { name: stringOf(name)?.slice(0, 100), version: stringOf(version)?.slice(0, 100) },
    };
    const sessionId = encryptToken(ring, "session", boundOf(context), JSON.stringify(facts));
    this.#know(sessionId, facts.id);
    return sessionId;
  }

  readonly messagesOf = async (
    context: ClientEndpoint,
    sessionId: string,
  ): Promise<readonly RpcMessage[] | undefined> => {
    const { messages, now } = this.#options;
    const facts = this.#open(context, sessionId);
    if (facts === undefined || facts.until < now()) return undefined;
    const session = this.#know(sessionId, facts.id);
    // While the store is away, a session goes on with what its id says.
    const stored = await messages.list([session.address]).catch(() => []);
    for (const { number } of stored) session.seen.add(number);
    const news = stored.map(({ text }) => JSON.parse(text) as SessionNews);
    if (news.some(({ kind }) => kind === "end")) return undefined;
    const { version: protocolVersion, capabilities, client: clientInfo } = facts;
    return [
      request("initialize", { protocolVersion, capabilities, clientInfo }),
      { jsonrpc: "2.0", method: "notifications/initialized" },
      ...news.flatMap((each) => (each.kind === "change" ? [withNewId(each.request)] : [])),
    ];
  };

  async changed(sessionId: string, message: RpcMessage): Promise<void> {
    const { method, params } = message;
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    const uri = stringOf(objectOf(params)["uri"]);
    const key = uri === undefined ? stringOf(method) : `resource ${uri}`;
    const news: SessionNews = { kind: "change", from: this.process, request: message };
    await this.#send(session.address, news, lifetime, key);
  }

  async ended(context: ClientEndpoint, sessionId: string): Promise<void> {
    const facts = this.#open(context, sessionId);
    if (facts !== undefined)
      await this.#send(addressOf(facts.id), { kind: "end", from: this.process }, lifetime, "end");
  }

  /** A hint of another replica's news can be later than the client's next request, so each request looks for news first. */
  caughtUp(sessionId: string): Promise<void> | undefined {
    const session = this.#sessions.get(sessionId);
    return session && this.#readNews(session);
  }

  pass(sessionId: string, message: RpcMessage, to: string | undefined): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined)
      void this.#send(session.address, { kind: "pass", from: this.process, to, message }, waits);
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #open(context: ClientEndpoint, sessionId: string): SessionFacts | undefined {
    const text = decryptToken(this.#options.ring, "session", boundOf(context), sessionId);
    return text === undefined ? undefined : readFacts(text);
  }

  #know(sessionId: string, id: string): OpenSession {
    const address = addressOf(id);
    const session = this.#sessions.get(sessionId) ?? { sessionId, address, seen: new Set() };
    if (this.#sessions.size >= this.#forgetAt) this.#forgetClosed();
    this.#sessions.set(sessionId, session);
    this.#byHint.set(addressHint(address), session);
    return session;
  }

  #forgetClosed(): void {
    for (const { sessionId, address } of this.#sessions.values()) {
      if (this.#listener?.has(sessionId) === true) continue;
      this.#sessions.delete(sessionId);
      this.#byHint.delete(addressHint(address));
    }
    this.#forgetAt = this.#sessions.size + many;
  }

  #readNews(session: OpenSession): Promise<void> {
    this.#toRead.add(session);
    this.#nextReading ??= this.#reading.then(() => {
      const sessions = [...this.#toRead];
      this.#toRead.clear();
      this.#nextReading = undefined;
      this.#reading = this.#noted(this.#read(sessions)).then(() => undefined);
      return this.#reading;
    });
    return this.#nextReading;
  }

  async #read(sessions: readonly OpenSession[]): Promise<void> {
    const byAddress = new Map(sessions.map((each) => [each.address, each]));
    for (const stored of await this.#options.messages.list([...byAddress.keys()])) {
      const session = byAddress.get(stored.address);
      const news = session && this.#news(session, stored);
      if (session !== undefined && news !== undefined && news.from !== this.process) this.#take(session, news);
    }
  }

  /** The news in a message, if it was not read before. */
  #news({ seen }: OpenSession, { number, text }: StoredMessage): SessionNews | undefined {
    if (seen.has(number)) return undefined;
    seen.add(number);
    return JSON.parse(text) as SessionNews;
  }

  #take({ sessionId }: OpenSession, news: SessionNews): void {
    const listener = this.#listener;
    switch (news.kind) {
      case "change":
        listener?.deliver(sessionId, withNewId(news.request));
        break;
      case "pass":
        if (news.to === undefined || news.to === this.process) listener?.deliver(sessionId, news.message);
        break;
      case "end":
        listener?.end(sessionId);
        break;
    }
  }

  /** Without the store, only this replica knows it. Returns whether it is stored. */
  #send(address: string, news: SessionNews, time: number, key?: string): Promise<boolean> {
    const { messages, now } = this.#options;
    return this.#noted(
      messages.send(address, { text: JSON.stringify(news), until: now() + time, ...(key && { key }) }),
    );
  }

  /** Returns whether the work was done. */
  async #noted(work: Promise<void>): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      this.#options.log("warning", "session_message", { message: errorMessage(error) });
      return false;
    }
  }
}

/** The user and the client. Groups may change while a session is open. */
function boundOf({ workspace, client, only }: ClientEndpoint): Bound {
  const { tenant = 0, id = "" } = workspace.principal ?? {};
  return ["session", tenant, id, client.name, only ?? ""];
}

function addressOf(id: string): string {
  return `session ${id}`;
}

function boundedCapabilities(capabilities: object): object {
  if (JSON.stringify(capabilities).length <= longestCapabilities) return capabilities;
  const names = ["roots", "sampling", "elicitation"].filter((name) => Object.hasOwn(capabilities, name));
  return Object.fromEntries(names.map((name) => [name, {}]));
}

let requests = 0;

/** A request that no client has sent. No client waits for its answer, and its id is that of no request of the client. */
function request(method: string, params: object): RpcMessage {
  requests += 1;
  return { jsonrpc: "2.0", id: `fairlead-${requests}`, method, params };
}

function withNewId({ method, params }: RpcMessage): RpcMessage {
  return request(stringOf(method) ?? "", objectOf(params));
}

function readFacts(text: string): SessionFacts | undefined {
  const value = parseJson(text);
  if (!isObject(value) || listOf(value).length > 0) return undefined;
  const id = stringOf(value["id"]);
  const { until } = value;
  if (id === undefined || typeof until !== "number") return undefined;
  return {
    id,
    until,
    version: stringOf(value["version"]) ?? "",
    capabilities: objectOf(value["capabilities"]),
    client: objectOf(value["client"]),
  };
}
