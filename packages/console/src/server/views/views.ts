/**
 * The views of tools (MCP Apps) that a console shows. Everything that a view asks for passes the same path as every other
 * request, as `view of SERVER`: to its own server only, to the tools that its server offers to views, by the same rules.
 */

import { randomUUID } from "node:crypto";
import type { Clock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import type { OpenedHost, RequestOptions } from "@fairlead/core/host";
import { type ConfirmPort, ToolConfirmationOutcome } from "@fairlead/core/policy";
import { type Connection, isForViews, type View, viewIn, viewType } from "@fairlead/core/server";
import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, objectOf, stringOf } from "@fairlead/wire/json";
import type { ConsoleEvent } from "../../protocol/events.ts";
import type { ViewCommands, ViewWishes } from "../../protocol/views.ts";
import type { RunOptions } from "../console-source.ts";
import type { Calls, CallWithView } from "../state/calls.ts";
import { anObject, aText, type Handlers } from "../state/parameters.ts";
import { positionText } from "../words/server-details.ts";
import { redact } from "../words/server-redaction.ts";
import { grantedSandbox, linkOfView, wishesOf } from "./view-domains.ts";
import type { OpenFrame } from "./view-frames.ts";
import { toolWithView, viewLink } from "./view-link.ts";

/** Views that were read and not shown yet. */
const mostRead = 16;
/** One more ends the oldest. */
const mostOpen = 32;
/** A page may be so many characters. The largest published one has 4 300 000. */
const mostCharacters = 16 * 1024 * 1024;
/** How many requests a view may begin at once, and how many in a second for long. */
const mostAtOnce = 30;
const perSecond = 5;
const mostRunning = 8;
/** What the browser has stopped is told this often for one view. */
const mostStopped = 50;

/** Codes of JSON-RPC. */
const invalid = -32602;
const refused = -32000;

/** A view that was read from its server. */
interface ReadView {
  readonly call: CallWithView;
  readonly server: string;
  readonly uri: string;
  readonly tool: JsonObject;
  readonly connection: Connection | undefined;
  readonly html: string;
  readonly view: View;
  readonly wishes: ViewWishes;
  readonly hasBorder: boolean;
}

type ReadFrom = Pick<ReadView, "call" | "server" | "uri" | "tool" | "connection">;

interface OpenView {
  readonly id: string;
  readonly read: ReadView;
  readonly frame: OpenFrame;
  /** Stops waiting for the end of the console. */
  readonly leave: () => void;
  readonly calls: Set<string>;
  /** Requests that the view may begin now, at the time `at`. */
  left: number;
  at: number;
  stopped: number;
}

interface ViewsOptions {
  readonly host: OpenedHost;
  readonly calls: Calls;
  readonly clock: Clock;
  readonly emit: (event: ConsoleEvent) => void;
  /** Called after a yes to a view. */
  readonly onAllowed: () => void;
}

export class Views implements Disposable {
  readonly #options: ViewsOptions;
  readonly #read = new Map<string, Promise<ReadView>>();
  readonly #open = new Map<string, OpenView>();

  constructor(options: ViewsOptions) {
    this.#options = options;
  }

  readonly handlers: Handlers<ViewCommands> = {
    "views/read": { takes: { call: aText, of: aText }, run: ({ call, of }) => this.#beginRead(call, of) },
    "views/describe": { takes: { call: aText }, run: ({ call }) => this.#describe(call) },
    "views/show": { takes: { call: aText }, run: ({ call }, options) => this.#show(call, options) },
    "views/send": {
      takes: { view: aText, call: aText, method: aText, params: anObject },
      run: ({ view, call, method, params }) => this.#send(this.#find(view), call, method, params),
    },
    "views/answer": {
      takes: { view: aText, call: aText },
      run: ({ view, call }) => this.#answer(this.#find(view), call),
    },
    "views/close": {
      takes: { view: aText },
      run: ({ view }) => {
        this.#close(view);
        return {};
      },
    },
  };

  [Symbol.dispose](): void {
    for (const id of this.#open.keys()) this.#close(id);
    this.#read.clear();
  }

  /** The row of the request ends before everything is done with its result: this waits, and tells why a result is no view. */
  #findRead(call: string): Promise<ReadView> {
    const read = this.#read.get(call);
    if (read !== undefined) return read;
    throw new HostError("not_found", "the view was not read, or is no longer kept: read it again");
  }

  #find(id: string): OpenView {
    const open = this.#open.get(id);
    if (open !== undefined) return open;
    throw new HostError("not_found", "the view is not open any more");
  }

  #beginRead(id: string, of: string): Record<string, never> {
    const { host, calls } = this.#options;
    const call = calls.withView(of);
    const { server, name } = call.row;
    const found = toolWithView(host, server, name);
    if (found === undefined) throw new HostError("not_found", `"${server}" lists no view of ${name}`);
    const { uri, tool, connection } = found;
    const readFrom = { call, server, uri, tool, connection };
    return calls.begin(
      id,
      { server, kind: "resource", name: uri },
      (options) => {
        const reading = this.#readView(id, readFrom, options);
        const read = reading.then(([view]) => view);
        // The row tells why a request has failed, to who does not ask here.
        read.catch(() => {});
        this.#read.set(id, read);
        const [oldest] = this.#read.keys();
        if (this.#read.size > mostRead && oldest !== undefined) this.#read.delete(oldest);
        return reading.then(([, result]) => result);
      },
      this.#asker(server),
    );
  }

  async #readView(
    id: string,
    from: ReadFrom,
    { signal, confirm }: Required<Pick<RequestOptions, "signal" | "confirm">>,
  ): Promise<readonly [view: ReadView, result: JsonObject]> {
    const { host } = this.#options;
    const { server, uri, connection } = from;
    const answered = { isChangeAllowed: false };
    const ask: ConfirmPort = async (question) => {
      const details = await question();
      const outcome = details && (await confirm(details));
      if (!details || !outcome) return;
      answered.isChangeAllowed ||= details.change !== undefined && outcome !== ToolConfirmationOutcome.Cancel;
      await details.onConfirm(outcome);
    };
    const { capabilities } = viewLink(host, server);
    const result = await host.gateway.forward(
      { client: { name: clientOf(server), conversation: id }, server, method: "resources/read", params: { uri } },
      { signal, confirm: ask, connection, capabilities },
    );
    const read = toReadView(result, from, this.#listed(server, uri, connection));
    // The person has just seen the difference to the view that was allowed before.
    if (answered.isChangeAllowed && host.gateway.servers.get(server).views.hasShown(uri)) await this.#allow(read);
    return [read, result];
  }

  /** The resource as the server lists it: its metadata count if the content has none. */
  #listed(name: string, uri: string, connection: Connection | undefined): object | undefined {
    const server = this.#options.host.gateway.servers.get(name);
    return (connection ?? server.shared)?.filteredCatalog?.catalog.resources.find((one) => one.uri === uri);
  }

  #asker(server: string): Parameters<Calls["begin"]>[3] {
    return { from: clientOf(server), asks: { who: "client", from: `the view of ${server}`, isView: true } };
  }

  #needsYes({ server: name, uri, view }: ReadView): boolean {
    const server = this.#options.host.gateway.servers.get(name);
    return server.definition?.extras.views !== "on" && !server.views.mayShow(uri, view);
  }

  async #allow({ server: name, uri, view }: ReadView): Promise<void> {
    const server = this.#options.host.gateway.servers.get(name);
    server.views.allowShow(uri, view);
    await server.saveAccepted();
    this.#options.onAllowed();
  }

  async #describe(id: string): Promise<ViewCommands["views/describe"]["result"]> {
    const read = await this.#findRead(id);
    const { server, uri, html, wishes, call } = read;
    const found = this.#options.host.configuration.servers.find((each) => each.server.name === server)?.server;
    const transport = found?.definition && redact(found.definition.transport);
    const command =
      transport === undefined
        ? "built into Fairlead"
        : transport.kind === "stdio"
          ? [transport.command, ...transport.args].join(" ")
          : transport.url;
    const needsYes = this.#needsYes(read);
    return {
      server,
      tool: call.row.name,
      uri,
      command,
      definedAt: found === undefined ? "built in" : positionText(found.origin),
      bytes: Buffer.byteLength(html),
      ...wishes,
      needsYes,
      isChanged: needsYes && this.#options.host.gateway.servers.get(server).views.hasShown(uri),
    };
  }

  async #show(call: string, { frames, signal }: RunOptions): Promise<ViewCommands["views/show"]["result"]> {
    const read = await this.#findRead(call);
    const { server, tool, html, wishes, hasBorder } = read;
    if (frames === undefined) throw new HostError("usage", "this page cannot show views");
    if (toolWithView(this.#options.host, server, read.call.row.name) === undefined)
      throw new HostError("not_found", `the views of "${server}" are switched off by now`);
    if (this.#needsYes(read)) await this.#allow(read);
    // The console of the page may have closed meanwhile.
    signal.throwIfAborted();
    this.#read.delete(call);
    const id = randomUUID();
    const { emit, clock } = this.#options;
    const close = (): void => this.#close(id);
    const frame = frames.add({
      html,
      wishes,
      onStopped: (stopped) => {
        open.stopped += 1;
        if (open.stopped <= mostStopped) emit({ type: "view_stopped", view: id, ...stopped });
      },
    });
    const open: OpenView = {
      id,
      read,
      frame,
      leave: () => signal.removeEventListener("abort", close),
      calls: new Set(),
      left: mostAtOnce,
      at: clock.now(),
      stopped: 0,
    };
    this.#open.set(id, open);
    signal.addEventListener("abort", close);
    const [oldest] = this.#open.keys();
    if (this.#open.size > mostOpen && oldest !== undefined) this.#close(oldest);
    return {
      view: id,
      frame: frame.address,
      tool: toolForView(tool),
      arguments: read.call.args,
      result: read.call.result && toSentResult(read.call.result),
      sandbox: grantedSandbox(wishes),
      hasBorder,
    };
  }

  #send(open: OpenView, id: string, method: string, params: JsonObject): ViewCommands["views/send"]["result"] {
    const { read } = open;
    const { server, connection } = read;
    if (method === "tools/call") {
      const tool = stringOf(params["name"]) ?? "";
      const args = params["arguments"] ?? {};
      const listed = this.#options.host.gateway.servers.get(server).listedBy(connection).toolOf(tool);
      if (listed === undefined || !isForViews(listed))
        throw new HostError("denied", `the server offers its views no tool ${JSON.stringify(tool.slice(0, 100))}`);
      if (!isObject(args)) throw new HostError("usage", "the arguments must be an object");
      return this.#begin(open, id, { kind: "tool", name: tool }, method, { name: tool, arguments: args });
    }
    if (method === "resources/read") {
      const uri = stringOf(params["uri"]) ?? "";
      if (uri === "") throw new HostError("usage", "uri must be a text");
      return this.#begin(open, id, { kind: "resource", name: uri }, method, { uri });
    }
    if (method === "ui/open-link") {
      const url = linkOfView(params["url"]);
      if (url === undefined)
        throw new HostError("usage", "a view can only ask to open addresses of the Internet that begin with https:");
      return { result: { url } };
    }
    return { result: this.#list(read, method) };
  }

  /** What the view's own server lists. */
  #list({ server: name, connection }: ReadView, method: string): JsonObject {
    const server = this.#options.host.gateway.servers.get(name);
    const catalog = (connection ?? server.shared)?.filteredCatalog?.catalog;
    if (method === "resources/list") return { resources: catalog?.resources ?? [] };
    if (method === "resources/templates/list") return { resourceTemplates: catalog?.resourceTemplates ?? [] };
    if (method === "prompts/list") return { prompts: catalog?.prompts ?? [] };
    throw new HostError("usage", `${method.slice(0, 100)} is not supported`);
  }

  #begin(
    open: OpenView,
    id: string,
    subject: { readonly kind: "tool" | "resource"; readonly name: string },
    method: string,
    params: JsonObject,
  ): Record<string, never> {
    const { host, calls } = this.#options;
    const { server, connection } = open.read;
    this.#countRequest(open);
    const { capabilities } = viewLink(host, server);
    const begun = calls.begin(
      id,
      { server, ...subject },
      ({ signal, confirm }) =>
        host.gateway.forward(
          { client: { name: clientOf(server), conversation: open.id }, server, method, params },
          {
            signal,
            connection,
            capabilities,
            confirm: async (question) => {
              const details = await question();
              const outcome = details && (await confirm(details));
              if (details && outcome) await details.onConfirm(outcome);
            },
          },
        ),
      this.#asker(server),
    );
    open.calls.add(id);
    return begun;
  }

  /** @throws HostError `busy` if the view has begun too many requests */
  #countRequest(open: OpenView): void {
    const now = this.#options.clock.now();
    open.left = Math.min(mostAtOnce, open.left + ((now - open.at) / 1000) * perSecond);
    open.at = now;
    const running = [...open.calls].filter((id) => this.#options.calls.find(id)?.endedAt === undefined);
    open.calls.clear();
    for (const id of running) open.calls.add(id);
    if (open.left < 1) throw new HostError("busy", `the view sends more than ${perSecond} requests a second`);
    if (running.length >= mostRunning)
      throw new HostError("busy", `${mostRunning} requests of the view are still running`);
    open.left -= 1;
  }

  #answer(open: OpenView, id: string): ViewCommands["views/answer"]["result"] {
    const { row, result } = this.#options.calls.ended(id);
    if (row.from !== clientOf(open.read.server)) throw new HostError("not_found", "the view has sent no such request");
    if (result !== undefined) return { result };
    const { code = "", message = "the result is too large to be kept" } = row.error ?? {};
    return { error: { code: code === "usage" || code === "arguments_invalid" ? invalid : refused, message } };
  }

  #close(id: string): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    open.frame[Symbol.dispose]();
    open.leave();
    for (const call of open.calls) this.#options.calls.stop(call, "the view was closed");
  }
}

/** How rules and the history name the views of a server. */
function clientOf(server: string): string {
  return `view of ${server}`;
}

/** @throws HostError `not_supported` if the resource is no view */
function toReadView(result: JsonObject, from: ReadFrom, listed: object | undefined): ReadView {
  const view = viewIn(result, listed);
  const contents = listOf(result["contents"]).map(objectOf);
  const [{ text, blob } = {}] = contents;
  const html = typeof text === "string" ? text : typeof blob === "string" ? Buffer.from(blob, "base64").toString() : "";
  const { mimeType, ui } = view.metadata;
  const wrong = (why: string): HostError =>
    new HostError("usage", `${from.uri.slice(0, 200)} of "${from.server}" is no view: ${why}`, {
      serverName: from.server,
    });
  if (mimeType !== viewType) throw wrong(`its MIME type is ${JSON.stringify(mimeType).slice(0, 100)}, not ${viewType}`);
  if (contents.length !== 1) throw wrong("it has several contents");
  if (html === "") throw wrong("it is empty");
  if (html.length > mostCharacters) throw wrong("it is too large");
  return { ...from, html, view, wishes: wishesOf(ui), hasBorder: objectOf(ui)["prefersBorder"] !== false };
}

/** The definition of the tool for its view. */
function toolForView({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
  _meta,
}: JsonObject): JsonObject {
  return { name, title, description, inputSchema, outputSchema, annotations, _meta };
}

/** A result with the names of the protocol. Results of the console's own calls have those of `ToolResult`. */
function toSentResult({ content, structuredContent, isError, meta, _meta = meta }: JsonObject): JsonObject {
  return { content: listOf(content).map(toSentBlock), structuredContent, isError, _meta };
}

function toSentBlock(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { meta, _meta = meta, resource, ...block } = value;
  if (block["type"] === "unknown" && block["raw"] !== undefined) return block["raw"];
  return { ...block, resource: isObject(resource) ? toSentBlock(resource) : resource, _meta };
}
