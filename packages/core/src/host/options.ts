/** The options of a host, and the checks of their names and types. */

import { homedir } from "node:os";
import { isObject } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import type { SignInUi } from "../auth/browser/sign-in-ui.ts";
import type { MCPOAuthTokenStorage } from "../auth/store/token-storage.ts";
import type { UserSignIns } from "../auth/user-sign-ins.ts";
import type { Clock } from "../clock.ts";
import type { ConnectStep } from "../connect/connect-step.ts";
import { HostError } from "../errors.ts";
import type { Emitter, HostEvent } from "../events.ts";
import type { Model } from "../model/model.ts";
import type { Confirm, ConfirmPort } from "../policy/confirmation.ts";
import type { PolicyFlags } from "../policy/rules/load-policies.ts";
import type { ApprovalMode, RequestingUser } from "../policy/rules/rule.ts";
import type { Recorder } from "../recordings/recorder.ts";
import type { ListStep } from "../server/catalog.ts";
import type { Elicit } from "../server/elicitation.ts";
import type { Sample, UnaskableQuestion } from "../server/requests.ts";
import type { SettingsObject } from "../settings/define/server-config.ts";
import type { Environment } from "../settings/read/paths.ts";
import { settingsSchema } from "../settings/schema/schema.ts";
import { closest } from "../text/closest.ts";
import type { ConfigurationOptions } from "../trust/configuration.ts";
import type { DeclaredCapabilities, GreetingHooks, QuestionHandler } from "./gateway-types.ts";

/**
 * Options of `createHost`. All are optional: without them the host uses the settings and the workspace of the current
 * folder, as the `fairlead` command does.
 */
export interface HostOptions extends OpenHostOptions {
  /**
   * The user's settings: an object or a file path. Default: Gemini CLI's settings file. Messages call an object
   * `settings option`; their line numbers refer to `JSON.stringify(settings, null, 2)`.
   */
  readonly settings?: string | SettingsObject;
  /** The workspace root. Default: found from the current folder. `false`: no workspace settings. */
  readonly workspace?: string | false;
  /** Whether the workspace is trusted. Default: the IDE decides, if it can be asked, or the trusted-folders file. */
  readonly trust?: boolean;
  /** The environment variables, folders and platform. Default: those of the process. */
  readonly environment?: Environment;
}

/** Options of `openHost`. `HostOptions` adds where to find the settings. */
export interface OpenHostOptions {
  readonly clock?: Clock;
  /** `true`: writes all protocol messages into the servers' log files. A server's name: only for that server. */
  readonly debug?: boolean | string;
  /**
   * A recorder from `createRecorder`. It records the protocol messages of all servers. Close the host to write the last
   * ones.
   */
  readonly record?: Recorder;
  /** How many server processes may start at the same time. */
  readonly startLimit?: number;
  /** Receives each step of connecting a server and of reading its catalog. */
  readonly observe?: (server: string, step: ConnectStep | ListStep) => void;
  /** The store for sign-ins. Default: the store of this installation. */
  readonly tokens?: MCPOAuthTokenStorage;
  /** For a gateway of several people: the sign-ins of the host's user, instead of `tokens` and `signIn`. */
  readonly signIns?: UserSignIns;
  /** How the user signs in to a server. If absent, a server that requires sign-in stays in the state `needs_auth`. */
  readonly signIn?: SignInUi;
  /** Opens a URL for a sign-in. Resolves with false if no browser could be opened. */
  readonly openBrowser?: (url: string) => Promise<boolean>;
  /**
   * Asks the user to confirm a model's call that no rule allows. If absent, such a call is denied. Besides an outcome, it
   * may return a no with a reason for the model (`{ because }`), or other arguments for the call (`{ args }`).
   */
  readonly confirm?: Confirm;
  /**
   * The approval mode for calls of models: `plan` denies tools that are not read-only, `yolo` allows calls that would
   * need confirmation. Default: `default`.
   */
  readonly approvalMode?: ApprovalMode;
  /** Tools, or whole servers, that need no confirmation in this run, as with `--allow`. */
  readonly allow?: PolicyFlags["allow"];
  /** `false` means that the user cannot be asked. Every request that needs confirmation is then denied. */
  readonly interactive?: boolean;
  /**
   * The user for whom this host works, in a program that serves several people: a host for each. Rules with `user` or
   * `group` apply to them. Default: no such rule applies.
   */
  readonly principal?: RequestingUser;
  /**
   * Whether the program shows the views of tools (MCP Apps). The host then declares the extension
   * `io.modelcontextprotocol/ui` to its servers, except to those with `"views": "off"` in the settings. Default: false.
   */
  readonly views?: boolean;
  /** Shows a server's question (elicitation) to the user. If absent, the host does not declare elicitation. */
  readonly elicit?: Elicit;
  /**
   * Called when the host declines a server's question without asking the user, because its URL or form is not allowed.
   */
  readonly onUnaskable?: (question: UnaskableQuestion) => void;
  /** Answers a server's sampling request, if the settings allow it (`fairlead.servers.NAME.sampling`). */
  readonly sample?: Sample;
  /**
   * For a gateway: the capabilities that the host declares to servers. Default: they follow from `elicit`, `sample` and
   * the settings.
   */
  readonly declare?: DeclaredCapabilities;
  /**
   * For a gateway: answers a server's request (such as sampling). Not used for requests during a forwarded request with
   * the option `answer`.
   */
  readonly onQuestion?: QuestionHandler;
  /**
   * For a gateway: how to ask about a host that a server wants to reach from its sandbox while no request of a client runs.
   * Default: `confirm`.
   */
  readonly confirmHost?: (serverName: string, until: AbortSignal) => ConfirmPort;
  /** For a gateway: finds servers that lead back to the gateway. */
  readonly greeting?: GreetingHooks;
  /** Which protocol versions to try first. Default: those of the last connection, or else `modern`. */
  readonly era?: "legacy" | "modern";
  /**
   * `true`: starts each server with its first request and, with `recover`, stops idle servers. Overrides the settings.
   */
  readonly lazy?: boolean;
  /** The default model of conversations. */
  readonly model?: Model;
  /** Whether the host reconnects servers after a lost connection. For programs that keep running. */
  readonly recover?: boolean;
  /**
   * Whether the host emits `settings_changed` when another program changes a settings file, the trusted-folders file or
   * this workspace's approvals. A change that the host has already loaded is not reported.
   */
  readonly watch?: boolean;
  /** Milliseconds without a request, after which the host stops a lazy server. Needs `recover`. Default: 300 000. */
  readonly idleStop?: number;
  /** The clock, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Options of `host.callAsModel`. */
export interface CallAsModelOptions {
  readonly signal?: AbortSignal;
  /** Asks the user to confirm this call. Default: the host's option `confirm`. */
  readonly confirm?: OpenHostOptions["confirm"];
}

/** Returns what the value must be, such as "true or false"; undefined if the value is valid. */
type Check = (value: unknown) => string | undefined;

const must =
  (what: string, isRight: (value: unknown) => boolean): Check =>
  (value) =>
    isRight(value) ? undefined : what;
const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isOneOf = (choices: readonly unknown[], value: unknown): boolean => choices.includes(value);
const isFunction = (value: unknown): boolean => typeof value === "function";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;
const isDuration = (value: unknown): boolean => typeof value === "number" && value > 0;
const aFunction = must("a function", isFunction);
const aSwitch = must("true or false", (value) => typeof value === "boolean");
const withMethods = (what: string, ...names: readonly string[]): Check =>
  must(what, (value) => isObject(value) && names.every((name) => isFunction(value[name])));
/** Rejects unknown members: with a misspelt `tool`, the item would allow the whole server. */
const isPrincipal = (value: unknown): boolean =>
  isObject(value) &&
  isText(value["user"]) &&
  (value["groups"] === undefined || (Array.isArray(value["groups"]) && value["groups"].every(isText)));

const isAllowed = (value: unknown): boolean =>
  isObject(value) &&
  isText(value["server"]) &&
  (value["tool"] === undefined || isText(value["tool"])) &&
  ["boolean", "undefined"].includes(typeof value["isPattern"]) &&
  Object.keys(value).every((key) => ["server", "tool", "isPattern"].includes(key));

const checks: { readonly [Name in keyof Required<HostOptions>]: Check } = {
  settings: must("a path or an object { mcpServers, mcp?, fairlead? }", (value) => isText(value) || isObject(value)),
  workspace: must("a path or false", (value) => isText(value) || value === false),
  trust: aSwitch,
  environment(value) {
    if (!isObject(value) || !["home", "cwd", "platform"].every((key) => isText(value[key])) || !isObject(value["env"]))
      return "an object { env, home, cwd, platform }";
    const areStrings = Object.values(value["env"]).every((each) => each === undefined || typeof each === "string");
    return areStrings ? undefined : "an object whose env has only strings as values";
  },
  clock: withMethods("an object with now() and after()", "now", "after"),
  debug: must("true, false or the name of a server", (value) => typeof value === "boolean" || isText(value)),
  record: withMethods("a recorder, from createRecorder()", "connection"),
  startLimit: must("a whole number above 0", isCount),
  observe: aFunction,
  tokens: withMethods("an MCPOAuthTokenStorage", "getCredentials", "saveCredentials", "pinned"),
  signIns: withMethods("an object with keeperOf() and signInNeeded()", "keeperOf", "signInNeeded"),
  signIn: withMethods("an object with show()", "show"),
  openBrowser: aFunction,
  confirm: aFunction,
  approvalMode: must('"default", "plan" or "yolo"', (value) => isOneOf(["default", "plan", "yolo"], value)),
  allow: must("a list of { server, tool? }", (value) => Array.isArray(value) && value.every(isAllowed)),
  interactive: aSwitch,
  principal: must("an object { user, groups? } with texts", isPrincipal),
  elicit: aFunction,
  views: aSwitch,
  onUnaskable: aFunction,
  sample: aFunction,
  declare: must(
    "an object { elicitation, sampling, roots }, each true or false",
    (value) => isObject(value) && ["elicitation", "sampling", "roots"].every((key) => typeof value[key] === "boolean"),
  ),
  onQuestion: aFunction,
  confirmHost: aFunction,
  greeting: withMethods("an object with meta() and accepts()", "meta", "accepts"),
  era: must('"legacy" or "modern"', (value) => isOneOf(["legacy", "modern"], value)),
  lazy: aSwitch,
  model: withMethods("a model, with stream()", "stream"),
  recover: aSwitch,
  watch: aSwitch,
  idleStop: must("a number of milliseconds above 0", isDuration),
  now: aFunction,
};

/**
 * Checks the names and types of the options.
 *
 * @throws HostError `usage`, naming the first wrong option
 */
export function checkHostOptions(options: unknown): void {
  checkOptions("createHost", options, checks);
}

const callAsModelChecks: { readonly [Name in keyof Required<CallAsModelOptions>]: Check } = {
  signal: withMethods("an AbortSignal", "addEventListener", "throwIfAborted"),
  confirm: aFunction,
};

/**
 * Checks the options of `host.callAsModel`.
 *
 * @throws HostError `usage`, naming the first wrong option
 */
export function checkCallAsModelOptions(options: unknown): void {
  checkOptions("callAsModel", options, callAsModelChecks);
}

function checkOptions(call: string, options: unknown, optionChecks: Readonly<Record<string, Check>>): void {
  if (!isObject(options)) throw new HostError("usage", `${call}() takes an object of options, not ${shown(options)}`);
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(optionChecks, name) ? optionChecks[name] : undefined;
    if (check === undefined) throw unknownName(`${call}() has no option "${name}"`, name, Object.keys(optionChecks));
    const wanted = value === undefined ? undefined : check(value);
    if (wanted !== undefined)
      throw new HostError("usage", `${call}({ ${name} }) must be ${wanted}, not ${shown(value)}`);
  }
}

/** All event types of a host. TypeScript reports a missing one. */
const eventTypes: { readonly [Type in HostEvent["type"]]: true } = {
  state: true,
  discovery: true,
  servers: true,
  settings_changed: true,
  ide_trust_changed: true,
  settings_unread: true,
  history_failed: true,
  conversation_not_recorded: true,
  fetching: true,
  stderr: true,
  list_changed: true,
  catalog: true,
  refresh_failed: true,
  log: true,
  resource_updated: true,
};

/** Wraps `on` so that it throws HostError `usage` for an unknown event or a wrong listener. */
export function withCheckedListeners(on: Emitter["on"]): Emitter["on"] {
  return (type, listener) => {
    const eventNames = Object.keys(eventTypes);
    if (typeof type !== "string") throw new HostError("usage", `on() takes the name of an event, not ${shown(type)}`);
    if (!eventNames.includes(type)) throw unknownName(`there is no event "${type}"`, type, eventNames);
    const wanted = aFunction(listener);
    if (wanted !== undefined) throw new HostError("usage", `on("${type}") takes ${wanted}, not ${shown(listener)}`);
    return on(type, listener);
  };
}

/**
 * Converts a settings object to JSON text. Later changes of the object then have no effect.
 *
 * @throws HostError `usage` if the settings cannot be written as JSON, or if a top-level key is misspelt
 */
function settingsText(settings: HostOptions["settings"]): string | undefined {
  if (settings === undefined || typeof settings === "string") return undefined;
  const settingsKeys = Object.keys(settingsSchema.properties);
  // Refuses only misspelt keys of Fairlead. All other keys may belong to other programs.
  for (const key of Object.keys(settings))
    if (!settingsKeys.includes(key) && closest(key, settingsKeys) !== undefined)
      throw unknownName(`createHost({ settings }) has no key "${key}"`, key, settingsKeys);
  try {
    return JSON.stringify(settings, null, 2);
  } catch (cause) {
    const [why] = errorMessage(cause).split("\n");
    throw new HostError("usage", `createHost({ settings }) cannot be written as JSON: ${why}`, { cause });
  }
}

function unknownName(message: string, name: string, validNames: readonly string[]): HostError {
  const near = closest(name, validNames);
  return new HostError("usage", near === undefined ? message : `${message}; did you mean "${near}"?`, {
    next: `Use one of: ${validNames.join(", ")}.`,
  });
}

/** Shows a number, boolean or null. Describes any other value by its type, because it may be a secret. */
function shown(value: unknown): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  if (value === "") return "an empty string";
  return { string: "a string", function: "a function", object: "an object" }[typeof value as string] ?? typeof value;
}

/** Where the settings of a host are read from, according to its options. */
export function toConfigurationOptions({ settings, workspace, trust, environment }: HostOptions): ConfigurationOptions {
  return {
    environment: environment ?? { env: process.env, home: homedir(), cwd: process.cwd(), platform: process.platform },
    workspace: workspace !== false,
    root: typeof workspace === "string" ? workspace : undefined,
    ...settingsFrom(settings),
    embedderTrust: trust,
  };
}

function settingsFrom(settings: HostOptions["settings"]): Pick<ConfigurationOptions, "settingsFile" | "userSettings"> {
  if (typeof settings === "string") return { settingsFile: settings };
  const userSettings = settingsText(settings);
  return userSettings === undefined ? {} : { userSettings };
}
