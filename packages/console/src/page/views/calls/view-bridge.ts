/**
 * Talks with one view (MCP Apps) in its frame, in JSON-RPC over messages of the browser. The view is a program of a
 * server: every message is checked here, what it asks a server for goes to the host, and what it asks the person for is
 * shown first. The view gets the call that it belongs to, and nothing else.
 */

import type { Result } from "../../../protocol/commands.ts";
import type { Api } from "../../api.ts";
import { toCommandError } from "../../app.ts";
import { webAddress } from "../../components/link.tsx";
import type { Store } from "../../store.ts";
import { asJson, type Json } from "./content-block.tsx";

export type DisplayMode = "inline" | "fullscreen";

/** Something that the view wants and the person decides. `text`: exactly what it has sent. */
export interface ViewQuestion {
  readonly kind: "link" | "message" | "context";
  readonly text: string;
}

/** A text that the view has sent with the person's permission, or a line of its log. */
export interface ViewNote {
  readonly kind: "message" | "context" | "log";
  readonly text: string;
}

export interface ViewBridgeOptions {
  readonly frame: HTMLIFrameElement;
  readonly shown: Result<"views/show">;
  readonly api: Api;
  readonly store: Store;
  readonly version: string;
  /** What the view learns of the page now. */
  readonly context: () => Json;
  /** Asks the person. Resolves with false also if another question is open. */
  readonly ask: (question: ViewQuestion) => Promise<boolean>;
  readonly note: (note: ViewNote) => void;
  readonly setHeight: (height: number) => void;
  /** Shows the view in another mode. Returns the mode that it has then. */
  readonly setMode: (mode: DisplayMode) => void;
  readonly onReady: (view: { readonly modes: readonly DisplayMode[] }) => void;
  /** The view has asked to be closed, or must be. `why`: what it did wrong. */
  readonly onEnd: (why?: string) => void;
}

const protocolVersion = "2026-01-26";
const smallest = 40;
const tallest = 2000;
/** A view that is as high as its frame would shrink or grow by a little for ever. */
const sameHeight = 4;
/** Messages in a second that one view may send. */
const mostMessages = 200;
const longestText = 20_000;
/** Milliseconds that a view gets to end itself. */
const teardownTime = 1000;

/** Codes of JSON-RPC. */
const codes = { invalid: -32602, unknown: -32601, early: -32002, refused: -32000 } as const;

class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export class ViewBridge {
  readonly #options: ViewBridgeOptions;
  readonly #origin: string;
  /** The ids of the requests that the view has sent to its server. */
  readonly sent: Set<string> = new Set();
  /** The host's ids of running requests, by the view's ids. */
  readonly #running = new Map<unknown, string>();
  readonly #waiting = new Map<string, () => void>();
  readonly #stops: readonly (() => void)[];
  #isInitialized = false;
  #isEnded = false;
  #modes: readonly DisplayMode[] = ["inline"];
  #mode: DisplayMode = "inline";
  #height = 0;
  /** What the person has allowed this view while it is open. */
  readonly #allowed = new Set<ViewQuestion["kind"]>();
  #second = 0;
  #messages = 0;
  #teardown: (() => void) | undefined;

  constructor(options: ViewBridgeOptions) {
    this.#options = options;
    this.#origin = new URL(options.shown.frame).origin;
    const listener = (event: MessageEvent<unknown>): void => this.#receive(event);
    addEventListener("message", listener);
    this.#stops = [
      () => removeEventListener("message", listener),
      options.store.onEvent("call", ({ call }) => call.endedAt !== undefined && this.#waiting.get(call.id)?.()),
      // After lost events it is unknown which calls have ended.
      options.store.onEvent("snapshot", () => {
        for (const look of this.#waiting.values()) look();
      }),
    ];
    // The listener is there before the page loads: the view may speak at once.
    options.frame.src = options.shown.frame;
  }

  /** Tells the view what has changed around it. */
  changeContext(change: Json): void {
    if (this.#isInitialized) this.#notify("ui/notifications/host-context-changed", change);
  }

  /** The person has changed the mode. */
  changeMode(mode: DisplayMode): void {
    this.#mode = mode;
    this.changeContext({ displayMode: mode });
  }

  /** Tells the view that it ends, and waits until it has answered, but not for long. */
  async tearDown(): Promise<void> {
    if (this.#isInitialized && !this.#isEnded)
      await new Promise<void>((resolve) => {
        this.#teardown = resolve;
        this.#send({ id: "teardown", method: "ui/resource-teardown", params: {} });
        setTimeout(resolve, teardownTime);
      });
    this.end();
  }

  /** Ends the view at once. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const stop of this.#stops) stop();
    this.#waiting.clear();
    // The console may be closed by now.
    void this.#options.api.run("views/close", { view: this.#options.shown.view }).catch(() => undefined);
  }

  #receive({ source, origin, data }: MessageEvent<unknown>): void {
    if (this.#isEnded || source !== this.#options.frame.contentWindow || origin !== this.#origin) return;
    const second = Math.floor(performance.now() / 1000);
    this.#messages = second === this.#second ? this.#messages + 1 : 1;
    this.#second = second;
    if (this.#messages > mostMessages) {
      this.#options.onEnd(`it sent more than ${mostMessages} messages in a second`);
      return;
    }
    const message = asJson(data);
    if (message?.["jsonrpc"] !== "2.0") return;
    const { id, method } = message;
    const params = asJson(message["params"]) ?? {};
    if (typeof method !== "string") {
      if (id === "teardown") this.#teardown?.();
      return;
    }
    if (typeof id !== "string" && typeof id !== "number") this.#take(method, params);
    else
      this.#answer(id, method, params).then(
        (result) => this.#send({ id, result }),
        (error: unknown) => this.#send({ id, error: toRpcError(error) }),
      );
  }

  /** A notification of the view. */
  #take(method: string, params: Json): void {
    switch (method) {
      case "ui/notifications/initialized":
        this.#initialized();
        break;
      case "ui/notifications/size-changed":
        this.#resize(params["height"]);
        break;
      case "ui/notifications/request-teardown":
        this.#options.onEnd();
        break;
      case "notifications/message":
        this.#options.note({ kind: "log", text: logLine(params) });
        break;
      case "notifications/cancelled": {
        const call = this.#running.get(params["requestId"]);
        if (call !== undefined) void this.#options.api.run("calls/cancel", { call }).catch(() => undefined);
        break;
      }
    }
  }

  #initialized(): void {
    if (this.#isInitialized) return;
    this.#isInitialized = true;
    const { shown, onReady } = this.#options;
    this.#notify("ui/notifications/tool-input", { arguments: shown.arguments });
    if (shown.result === undefined)
      this.#notify("ui/notifications/tool-cancelled", { reason: "the call has no result" });
    else this.#notify("ui/notifications/tool-result", shown.result);
    onReady({ modes: this.#modes });
  }

  #resize(height: unknown): void {
    if (typeof height !== "number" || !Number.isFinite(height)) return;
    const wanted = Math.min(tallest, Math.max(smallest, Math.ceil(height)));
    if (Math.abs(wanted - this.#height) <= sameHeight) return;
    this.#height = wanted;
    this.#options.setHeight(wanted);
  }

  async #answer(id: string | number, method: string, params: Json): Promise<Json> {
    if (method === "ping") return {};
    if (method === "ui/initialize") return this.#initialize(params);
    if (!this.#isInitialized) throw new Refusal(codes.early, "the view is not initialized");
    switch (method) {
      case "tools/call":
      case "resources/read":
      case "resources/list":
      case "resources/templates/list":
      case "prompts/list":
        return this.#request(id, method, params);
      case "ui/open-link":
        return this.#openLink(params["url"]);
      case "ui/message":
        return this.#say("message", textOf(params["content"]));
      case "ui/update-model-context":
        return this.#say("context", contextText(params));
      case "ui/request-display-mode":
        return this.#changeMode(params["mode"]);
      default:
        throw new Refusal(codes.unknown, `Method not found: ${method.slice(0, 100)}`);
    }
  }

  #initialize(params: Json): Json {
    const modes = asJson(params["appCapabilities"])?.["availableDisplayModes"];
    this.#modes = [
      "inline",
      ...(Array.isArray(modes) && modes.includes("fullscreen") ? (["fullscreen"] as const) : []),
    ];
    const { shown, version, context } = this.#options;
    return {
      protocolVersion,
      hostInfo: { name: "fairlead", version },
      hostCapabilities: {
        openLinks: {},
        serverTools: {},
        serverResources: {},
        logging: {},
        message: { text: {} },
        updateModelContext: { text: {}, structuredContent: {} },
        sandbox: shown.sandbox,
      },
      hostContext: {
        ...context(),
        toolInfo: { tool: shown.tool },
        displayMode: this.#mode,
        availableDisplayModes: this.#modes,
      },
    };
  }

  /** Sends a request to the view's server through the host. */
  async #request(id: string | number, method: string, params: Json): Promise<Json> {
    const { api, shown } = this.#options;
    const call = crypto.randomUUID();
    const { view } = shown;
    // A question to the person may come before the answer, so the answer arrives by the stream.
    const ended = this.#untilEnded(call);
    this.#running.set(id, call);
    this.sent.add(call);
    try {
      const sent = await api.run("views/send", {
        view,
        call,
        method,
        params: params as Result<"views/show">["arguments"],
      });
      if (sent.result !== undefined) return sent.result;
      await ended;
      const { result, error } = await api.run("views/answer", { view, call });
      if (result !== undefined) return result;
      throw new Refusal(error?.code ?? codes.refused, error?.message ?? "the request has no result");
    } finally {
      this.#running.delete(id);
      this.#waiting.delete(call);
      this.sent.delete(call);
    }
  }

  #untilEnded(call: string): Promise<void> {
    const { store } = this.#options;
    return new Promise((resolve) => {
      this.#waiting.set(call, () => {
        const row = store.calls.get(call);
        if (row === undefined || row.endedAt !== undefined) resolve();
      });
    });
  }

  async #openLink(given: unknown): Promise<Json> {
    const { api, shown, ask } = this.#options;
    const params = typeof given === "string" ? { url: given } : {};
    // The host decides which addresses a view may ask for, as everywhere.
    const { result } = await api.run("views/send", {
      view: shown.view,
      call: crypto.randomUUID(),
      method: "ui/open-link",
      params,
    });
    const target = webAddress(String(result?.["url"]));
    if (target === undefined) throw new Refusal(codes.invalid, "this address cannot be opened");
    // The person opens it: the button of the question is the click that the browser wants.
    return (await ask({ kind: "link", text: target.href })) ? {} : { isError: true };
  }

  /** A text that a view wants a model to get is shown. The first of each kind is asked about. */
  async #say(kind: "message" | "context", text: string): Promise<Json> {
    if (text.length > longestText) throw new Refusal(codes.invalid, `longer than ${longestText} characters`);
    if (!this.#allowed.has(kind) && !(await this.#options.ask({ kind, text })))
      return kind === "message"
        ? { isError: true }
        : Promise.reject(new Refusal(codes.refused, "the user has refused it"));
    this.#allowed.add(kind);
    this.#options.note({ kind, text });
    return {};
  }

  #changeMode(mode: unknown): Json {
    if (mode === "inline" || (mode === "fullscreen" && this.#modes.includes(mode))) {
      this.#mode = mode;
      this.#options.setMode(mode);
    }
    return { mode: this.#mode };
  }

  #notify(method: string, params: Json): void {
    this.#send({ method, params });
  }

  #send(message: Json): void {
    if (!this.#isEnded) this.#options.frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, this.#origin);
  }
}

function toRpcError(error: unknown): Json {
  if (error instanceof Refusal) return { code: error.code, message: error.message };
  const { code, message } = toCommandError(error);
  return { code: code === "usage" || code === "arguments_invalid" ? codes.invalid : codes.refused, message };
}

function textOf(content: unknown): string {
  const blocks = Array.isArray(content) ? content : [content];
  return blocks
    .map((block) => {
      const { type, text } = asJson(block) ?? {};
      return type === "text" && typeof text === "string" ? text : jsonText(block);
    })
    .join("\n");
}

function contextText({ content, structuredContent }: Json): string {
  const texts = content === undefined ? [] : [textOf(content)];
  return [...texts, ...(structuredContent === undefined ? [] : [jsonText(structuredContent)])].join("\n");
}

/** A message of the browser can contain what JSON cannot, such as an object that contains itself. */
function jsonText(value: unknown): string {
  try {
    return String(JSON.stringify(value, undefined, 2));
  } catch {
    return String(value);
  }
}

function logLine({ level, logger, data }: Json): string {
  const text = typeof data === "string" ? data : jsonText(data);
  const from = typeof logger === "string" ? ` ${logger}` : "";
  return `${String(level)}${from}: ${text}`.slice(0, 2000);
}
