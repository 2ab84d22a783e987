/** A host with servers of a test's own, and models that do what the test says. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { createOpenedHost, type HostOptions, type OpenedHost } from "../../src/host.ts";
import type { Model, ModelEvent } from "../../src/model/model.ts";
import type { Content, FunctionDeclaration, Part } from "../../src/normalise/model-types.ts";
import { ToolConfirmationOutcome } from "../../src/policy/confirmation.ts";
import type { CallEvent, TurnEvent } from "../../src/turn/events.ts";

export interface Desk extends AsyncDisposable {
  readonly host: OpenedHost;
  /** A file that servers may be told of. */
  path(name: string): string;
  write(name: string, content: string | object): Promise<unknown>;
  lines(name: string): Promise<readonly string[]>;
  /** Another host for the same settings and state. */
  again(options?: HostOptions): Promise<OpenedHost>;
}

export interface DeskOptions {
  readonly servers: (path: (name: string) => string) => Readonly<Record<string, object>>;
  readonly host?: HostOptions;
  readonly fairlead?: object;
}

export async function desk({ servers, host: given = {}, fairlead = {} }: DeskOptions): Promise<Desk> {
  const folder = await temporaryFolder();
  const path = (name: string): string => join(folder.path, name);
  const home = path("home");
  await folder.write("home/.gemini/settings.json", { mcpServers: servers(path), fairlead });
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: path("none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  const hosts: OpenedHost[] = [];
  const again = async (options: HostOptions = given): Promise<OpenedHost> => {
    const host = await createOpenedHost({ environment, recover: false, trust: true, ...options });
    hosts.push(host);
    return host;
  };
  return {
    host: await again(),
    path,
    write: (name, content) => folder.write(name, content),
    lines: async (name) =>
      (await readFile(path(name), "utf8").catch(() => "")).split("\n").filter((line) => line !== ""),
    again,
    async [Symbol.asyncDispose]() {
      await Promise.all(hosts.map((host) => host[Symbol.asyncDispose]()));
      await folder[Symbol.asyncDispose]();
    },
  };
}

export interface Asked {
  readonly messages: readonly Content[];
  readonly tools: readonly FunctionDeclaration[];
  readonly system: string;
  readonly signal: AbortSignal;
}

/** What it says: parts of its answer, or events as they are. */
export type Said = readonly Part[] | { readonly events: readonly ModelEvent[] };
export type Saying = Said | ((asked: Asked) => Said | Promise<Said>);

export interface PlayedModel extends Model {
  readonly requests: readonly Asked[];
}

/** One for each request, the last of them for all that follow. */
export function plays(...answers: readonly Saying[]): PlayedModel {
  return rules((_asked, number) => answers[Math.min(number, answers.length - 1)] ?? []);
}

export function rules(answer: (asked: Asked, number: number) => Saying, how: Partial<Model> = {}): PlayedModel {
  const requests: Asked[] = [];
  return {
    provider: "scripted",
    name: "played",
    dialect: "gemini",
    maxDeclarations: 512,
    ...how,
    requests,
    async *stream(messages, tools, signal, { system = "" } = {}) {
      const asked = { messages: structuredClone(messages), tools, system, signal };
      const saying = answer(asked, requests.length);
      requests.push(asked);
      const said = typeof saying === "function" ? await saying(asked) : saying;
      yield* "events" in said ? said.events : eventsOf(said);
    },
  };
}

function* eventsOf(parts: readonly Part[]): Generator<ModelEvent, void, undefined> {
  for (const { text } of parts) if (text !== undefined) yield { type: "text", text };
  for (const { functionCall } of parts)
    if (functionCall) yield { type: "call", call: { name: functionCall.name ?? "", args: functionCall.args ?? {} } };
  yield { type: "finish", reason: "stop", content: { role: "model", parts: [...parts] } };
}

export const says = (text: string): Part[] => [{ text }];
export const calls = (name: string, args: Record<string, unknown> = {}, id?: string): Part[] => [
  { functionCall: { ...(id !== undefined && { id }), name, args } },
];

export interface Watching {
  /** Answers what is asked; without it nothing is answered. */
  readonly answer?: ToolConfirmationOutcome;
  readonly on?: (event: TurnEvent) => void;
}

export async function collect(
  events: AsyncIterable<TurnEvent>,
  { answer = ToolConfirmationOutcome.ProceedOnce, on }: Watching = {},
): Promise<readonly TurnEvent[]> {
  const seen: TurnEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    on?.(event);
    if (event.type === "confirmation" && on === undefined) void event.details.onConfirm(answer);
  }
  return seen;
}

/** What became of each call, in the order in which they ended. */
export function outcomes(
  events: readonly TurnEvent[],
): readonly (readonly [name: string, status: string, code?: string])[] {
  return callEvents(events)
    .filter(({ status }) => ["ok", "error", "denied", "cancelled"].includes(status))
    .map(({ name, status, error }) => (error ? [name, status, error.code] : [name, status]));
}

export function callEvents(events: readonly TurnEvent[]): readonly CallEvent[] {
  return events.filter((event): event is CallEvent => event.type === "call");
}

/** The responses that the model got last, by name. */
export function responses({ messages }: Asked): readonly (readonly [name: string, response: unknown])[] {
  const parts = messages.at(-1)?.parts ?? [];
  return parts.flatMap(({ functionResponse }) =>
    functionResponse ? [[functionResponse.name ?? "", functionResponse.response]] : [],
  );
}

/** Undefined if every call is answered, in order, right after it. */
export function brokenIn(history: readonly Content[]): string | undefined {
  for (const [at, content] of history.entries()) {
    if (content.parts.length === 0) return `content ${at} is empty`;
    const names = content.parts.flatMap(({ functionCall }) => functionCall?.name ?? []);
    const answered = (history[at + 1]?.parts ?? []).flatMap(({ functionResponse }) => functionResponse?.name ?? []);
    const isResponse = content.parts.some(({ functionResponse }) => functionResponse !== undefined);
    if (names.join() !== answered.join()) return `content ${at} calls ${names.join()}, answered are ${answered.join()}`;
    if (isResponse && content.role !== "user") return `content ${at} answers as the model`;
    if (content.role === "model" && history[at - 1]?.role !== "user")
      return `content ${at} follows nothing of the user`;
  }
  return undefined;
}
