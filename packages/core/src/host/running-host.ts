/**
 * A running host: its servers, policy, ledger, registries and conversations, and what all its requests share. `host.ts`
 * gives it the functions that programs use.
 */

import type { JsonObject, LargeMessages } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import { type Clock, systemClock } from "../clock.ts";
import { clientInfo } from "../connect/client-info.ts";
import { MessageTap } from "../connect/message-tap.ts";
import { HostError } from "../errors.ts";
import { createEmitter, type Emitter, type ServerChanges, type ServerState } from "../events.ts";
import { validateArguments } from "../execute/check-values.ts";
import type { Executor } from "../execute/executor.ts";
import type { Issue } from "../execute/validation/validation.ts";
import type { Validator } from "../execute/validation/validator.ts";
import { once } from "../files/once.ts";
import type { StoredFile } from "../files/result-files.ts";
import type { IdeTrust } from "../ide/ide-trust.ts";
import type { LeftOut } from "../normalise/content/parts.ts";
import type { ToolApprovalStore } from "../policy/approvals.ts";
import {
  type AskedTool,
  askAbout,
  type ConfirmPort,
  confirmThrough,
  isYes,
  ToolConfirmationOutcome,
} from "../policy/confirmation.ts";
import type { Decisions, ToolIdentity, ToolOnConnection } from "../policy/decide.ts";
import { modelCalls } from "../request/calls.ts";
import type { ForwardingHost } from "../request/forward.ts";
import { HostLedger, type RequestLedger } from "../request/ledger.ts";
import { OpenWork } from "../request/open-work.ts";
import { getPromptForUser } from "../request/reads.ts";
import { hostRequest, samplingRequest } from "../request/request.ts";
import { RequestWatch } from "../request/request-watch.ts";
import { runRequest } from "../request/run.ts";
import type { Subscriptions } from "../resources/subscriptions.ts";
import type { AcceptedDefinitionPort } from "../server/accepted-definitions.ts";
import type { Connection } from "../server/connection.ts";
import type { AskForServersHost, OpenInBackground, RelaysHostQuestion } from "../server/opener.ts";
import { PersonAnswers } from "../server/person-answers.ts";
import type { Sample } from "../server/requests.ts";
import { Servers } from "../server/servers.ts";
import { definitionDigest } from "../server/tool-changes.ts";
import { optionOrigin, type SettingsFile } from "../settings/define/definition.ts";
import { HostTelemetry, type Telemetry } from "../telemetry/telemetry.ts";
import { toSafeLine } from "../text/safe-text.ts";
import { admit } from "../trust/admit.ts";
import { approvalsPath, readApprovals } from "../trust/approvals.ts";
import { type Configuration, type ConfigurationOptions, loadConfiguration } from "../trust/configuration.ts";
import type { TrustDecision } from "../trust/trust-decision.ts";
import { createConnectContext, type HostConnectContext } from "./connect-context.ts";
import { createHostConversations, type HostConversations } from "./conversations.ts";
import { HostDecisions } from "./decisions.ts";
import { HostRegistries } from "./registries.ts";
import { HostSecrets } from "./secrets.ts";
import { HostSearch } from "./tool-search.ts";
import type { OpenHostOptions } from "./types.ts";
import { FileWatch, type WatchedFile } from "./watch-files.ts";

/** Options of a running host. */
export interface RunningHostOptions extends OpenHostOptions {
  /** Where the host reads the settings again. Without it, a reload needs a configuration. */
  readonly from?: Omit<ConfigurationOptions, "ide">;
  /**
   * The IDE that is asked whether it trusts the workspace. With `from`, the host follows what the IDE reports. The host
   * closes the connection.
   */
  readonly ide?: Pick<IdeTrust, "report" | "stop" | "onChange" | "close">;
  /** Opens a server's session in the background host. Default: this process starts or reaches the server itself. */
  readonly background?: OpenInBackground;
  /** Where spans and measurements go. Default: the OpenTelemetry SDK that the program has registered, if any. */
  readonly telemetry?: Telemetry | undefined;
  /** Records the requests. Default: files in the state folder. */
  readonly ledger?: RequestLedger;
  /** Where the user's saved approvals are kept. Default: a file of the state folder. */
  readonly savedApprovals?: ToolApprovalStore;
  /** Where the definitions are kept that the user has accepted. Default: files of the state folder. */
  readonly acceptedDefinitions?: AcceptedDefinitionPort;
  /** The limit for large messages, if several hosts in one process share it. Default: the host has its own. */
  readonly largeMessages?: LargeMessages;
}

/** The state of one host. After `close`, it neither runs nor writes anything. */
export class RunningHost implements ForwardingHost {
  readonly options: RunningHostOptions;
  readonly clock: Clock;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly events: Emitter = createEmitter();
  readonly work: OpenWork = new OpenWork();
  readonly requests: RequestWatch;
  readonly person: PersonAnswers = new PersonAnswers();
  readonly secrets: HostSecrets = new HostSecrets(() => this.servers);
  readonly telemetry: HostTelemetry;
  readonly messages: MessageTap = new MessageTap(this.secrets.hide);
  readonly servers: Servers;
  readonly policy: HostDecisions;
  readonly ledger: RequestLedger;
  readonly registries: HostRegistries;
  readonly search: HostSearch;
  readonly conversations: HostConversations;
  /** The tools that were used before in this workspace, latest first. Reads the ledger only once. */
  readonly usedTools: () => Promise<readonly ToolIdentity[]>;
  readonly #context: HostConnectContext;
  readonly #watching: FileWatch | undefined;
  #executor: Promise<Executor<Connection>> | undefined;
  #validator: Promise<Validator> | undefined;
  #subscriptions: Promise<Subscriptions> | undefined;
  /** Whether all servers have been started, not only some of them. */
  #isStarted = false;
  #following: Promise<unknown> = Promise.resolve();
  #isFollowUpPlanned = false;

  constructor(first: Configuration, options: RunningHostOptions) {
    const {
      clock = systemClock,
      now = Date.now,
      allow,
      approvalMode: mode = "default",
      interactive = true,
      principal,
    } = options;
    const { emit } = this.events;
    this.options = options;
    this.clock = clock;
    this.now = now;
    this.requests = new RequestWatch(clock);
    this.telemetry = new HostTelemetry(options.telemetry, {
      version: clientInfo.version,
      content: () => this.servers.configuration.settings.host.telemetry,
      hide: this.secrets.hide,
    });
    this.#context = createConnectContext(() => this.servers.configuration, {
      ...options,
      hideSecrets: () => this.secrets.redactor(),
      tap: this.messages,
    });
    this.servers = new Servers(first, {
      options: { ...options, sample: options.sample && this.#sample },
      startLimit: options.startLimit,
      connecting: () => this.#context.get(),
      askForHost: this.#askForHost,
      relayHostQuestion: this.#relayHostQuestion,
      secret: this.#context.secret,
      accountAt: this.#context.accountAt,
      acceptedDefinitions: options.acceptedDefinitions,
      closing: this.work.closing,
      telemetry: this.telemetry,
      onCatalog: (server, filtered) => this.registries.put(server, filtered),
      clock,
      now,
      emit,
    });
    const { servers } = this;
    const flags = allow ? { allow } : {};
    const { savedApprovals } = options;
    this.policy = new HostDecisions({ servers, mode, interactive, principal, savedApprovals, flags, clock, now });
    this.ledger =
      options.ledger ??
      new HostLedger({
        state: first.locations.state,
        keepArguments: () => servers.configuration.settings.host.audit.arguments,
        workspace: () => servers.configuration.locations.root,
        mode,
        now,
        clock,
        emit,
      });
    this.usedTools = once(() => this.ledger.usedTools());
    this.registries = new HostRegistries({
      tools: modelCalls(this),
      getPrompt: (server, name, values, signal) => getPromptForUser(server, name, values, { signal }, this),
    });
    this.registries.setOrder(servers.all());
    this.search = new HostSearch(this);
    this.conversations = createHostConversations(this);
    this.#watching = options.watch
      ? new FileWatch(watchedFiles(first), (file) => emit({ type: "settings_changed", file }), clock)
      : undefined;
    this.#followIde();
  }

  /** The rules and confirmations that apply now. Looks at the policy files before it returns. */
  readonly rules = (): Decisions | Promise<Decisions> => this.policy.current();

  /** The executor is the largest part of a host, so only the first call imports it. */
  executor(): Promise<Executor<Connection>> {
    this.#executor ??= this.#openExecutor();
    return this.#executor;
  }

  /** The tool as the confirmation shows it, with its definition from the catalog. */
  readonly shownTool = ({ serverName, serverToolName, connection }: ToolOnConnection): AskedTool => {
    const listed = this.servers.find(serverName)?.listedBy(connection).toolOf(serverToolName);
    const { description = "", annotations } = listed ?? {};
    return { serverName, serverToolName, name: serverToolName, description, annotations };
  };

  /** Writes content that is too large for a model into a file. Closing the host waits until the file is written. */
  readonly keep = (file: LeftOut): Promise<StoredFile> =>
    this.work.run(async () => {
      const { keepResult } = await import("../files/result-files.ts");
      const hide = await this.secrets.redactor();
      const data = file.encoding === "utf8" ? hide(file.data) : file.data;
      return keepResult(this.servers.configuration.locations.state, { ...file, data });
    });

  subscriptions(): Promise<Subscriptions> {
    this.#subscriptions ??= import("../resources/subscriptions.ts").then(({ createSubscriptions }) =>
      createSubscriptions({ servers: this.servers, ...this.events, clock: this.clock }),
    );
    return this.#subscriptions;
  }

  /** Connects the named servers; without names, all except lazy ones. */
  start(names: readonly string[] | undefined): Promise<void> {
    this.#isStarted ||= names === undefined;
    const loading = this.telemetry.load();
    const started = loading ? loading.then(() => this.servers.start(names)) : this.servers.start(names);
    // The start counts as a use of each server. Without a request within the idle time, the server is stopped.
    if (this.options.lazy) for (const name of names ?? []) this.servers.find(name)?.use()();
    return started;
  }

  /** Applies the settings as they are now, then connects the named servers again, or all that were used. */
  async restart(names: readonly string[] | undefined): Promise<void> {
    const wasUsed = this.#usedServers();
    const changes = await this.reload();
    if (names !== undefined) return this.servers.restart(names);
    if (changes === undefined) return this.servers.restart(wasUsed);
    // A connected server with an unchanged definition keeps running.
    await this.#startAgain(wasUsed, { all: true });
  }

  /** Reads the settings again and applies them. Without a way to read them, returns undefined. */
  async reload(): Promise<ServerChanges | undefined> {
    return this.takeOver(await this.#load());
  }

  /** Runs `change`, which changes settings files, then reloads. Does not report these changes as `settings_changed`. */
  changeSettings<T>(change: () => Promise<T>): Promise<T> {
    const changeAndReload = async (): Promise<T> => {
      const result = await change();
      await this.work.run(() => this.reload());
      return result;
    };
    return this.#watching?.during(changeAndReload) ?? changeAndReload();
  }

  /**
   * Applies a new configuration. If a settings file cannot be read (an editor may be writing it), the earlier settings
   * stay, but an untrusted folder is untrusted at once.
   *
   * @param onDecisions Called when decisions follow the new configuration, before servers are stopped.
   * @throws HostError `settings_invalid`
   */
  async takeOver(next: Configuration | undefined, onDecisions?: () => void): Promise<ServerChanges | undefined> {
    if (next === undefined) return undefined;
    const broken = brokenFile(next);
    if (broken === undefined) return this.#apply(next, onDecisions);
    if (!next.trust.trusted) await this.#apply(withoutTrust(this.servers.configuration, next.trust), onDecisions);
    throw unreadSettings(broken, next);
  }

  /** Cancels everything, stops the servers, and resolves when everything is on disk. */
  readonly close: () => Promise<void> = once(async () => {
    this.#watching?.close();
    const ended = this.work.close();
    await Promise.all([ended, this.servers.close(), this.options.ide?.close()]);
    await this.#executor;
    await (await this.#validator)?.close();
    (await this.#subscriptions)?.[Symbol.dispose]();
    await this.conversations.close();
    await this.ledger.flush();
    await this.servers.flush();
    await this.#context.close();
  });

  /** What is wrong with a value, by a server's schema. */
  readonly issuesIn = (schema: JsonObject, value: JsonObject): Promise<readonly Issue[]> =>
    this.work.run(async (signal) => {
      const { issues } = await validateArguments(await this.#openValidator(), schema, value, signal);
      return issues;
    });

  /** Accepts the current definition of a tool or skill, if it still has this digest. */
  async accept(serverName: string, name: string, digest: string, kind: "tool" | "skill"): Promise<void> {
    const rules = await this.rules();
    const server = this.servers.get(serverName);
    const tool = server.listedBy().toolOf(name);
    const current = kind === "tool" ? tool && definitionDigest(tool) : server.skills.get(name)?.digest;
    if (current === undefined)
      throw new HostError(
        kind === "tool" ? "tool_unknown" : "not_found",
        `"${serverName}" lists no ${kind} "${name}"`,
        {
          serverName,
        },
      );
    if (current !== digest)
      throw new HostError("changed", `${name} of "${serverName}" not accepted: its definition has changed again`, {
        serverName,
      });
    await rules.accept({ who: "user", serverName, serverToolName: name, kind });
  }

  /**
   * Lets a server reach a host from its sandbox from now on, as the answer "always" to the question does. The host is one
   * that was refused, and the definition the one that the user has seen.
   */
  async allowHost(serverName: string, host: string, fingerprint: string): Promise<void> {
    const server = this.servers.get(serverName);
    if (server.definition?.fingerprint !== fingerprint)
      throw new HostError("changed", `${host} not allowed: the definition of "${serverName}" has changed`, {
        serverName,
      });
    const refused = server.wantedHosts.refused.find((each) => each.host === host);
    if (refused?.mayAllow !== true)
      throw new HostError("not_found", `"${serverName}" was refused no such host: ${toSafeLine(host)}`, { serverName });
    const confirm: ConfirmPort = async (question) => {
      const details = await question();
      if (details !== false) await details.onConfirm(ToolConfirmationOutcome.ProceedAlwaysAndSave);
    };
    const target = { kind: "direct", send: async () => undefined } as const;
    await runRequest({ ...hostRequest(serverName, host), confirm, target }, this);
    server.wantedHosts.allow(host);
  }

  #openValidator(): Promise<Validator> {
    this.#validator ??= import("../execute/validation/validator.ts").then(({ createValidator }) => createValidator());
    return this.#validator;
  }

  async #openExecutor(): Promise<Executor<Connection>> {
    const [{ Executor }, validator] = await Promise.all([import("../execute/executor.ts"), this.#openValidator()]);
    return new Executor<Connection>({
      limits: () => this.servers.configuration.settings.host.limits,
      validator,
      reconnect: (connection, signal) => connection.ready(signal),
      clock: this.clock,
    });
  }

  /** Answers a server's sampling request with the user's model, if the rules or the user allow it. */
  readonly #sample: Sample = ({ serverName, params }, signal) =>
    runRequest(
      {
        ...samplingRequest(serverName, params),
        signal,
        confirm: confirmThrough(this.options.confirm, signal),
        target: {
          kind: "direct",
          send: async (until) => {
            const { sample } = this.options;
            if (sample === undefined)
              throw new HostError("usage", 'sampling refused: this host has no "sample" option');
            return sample({ serverName, params }, until);
          },
        },
      },
      this,
    );

  /** The user whose request runs on the connection, or else the user whom the host can ask at any time. */
  #wayToAsk(serverName: string, connection: Connection, signal: AbortSignal): ConfirmPort | undefined {
    const isShared = connection === this.servers.find(serverName)?.shared;
    const { confirm, confirmHost } = this.options;
    return (
      this.requests.confirmOf(serverName, connection, isShared) ??
      confirmHost?.(serverName, signal) ??
      (confirm && confirmThrough(confirm, signal))
    );
  }

  /** Asks for the background host, which decides and records. Without an answer, resolves with undefined. */
  readonly #relayHostQuestion: RelaysHostQuestion = async (
    serverName,
    { host, reason, outcomes },
    connection,
    signal,
  ) => {
    const given: { outcome?: ToolConfirmationOutcome } = {};
    const { shown } = hostRequest(serverName, host);
    const rule = { decision: "ask_user", tier: "default", text: reason } as const;
    const answer = (outcome: ToolConfirmationOutcome): void => {
      given.outcome = outcome;
    };
    const details = askAbout(shown, {}, { kind: "host", rule, outcomes, answer });
    // The question fails after a no.
    await this.#wayToAsk(serverName, connection, signal)?.(async () => details, signal).catch(() => undefined);
    return given.outcome;
  };

  /** Asks about a host that a program wants to reach from its sandbox. */
  readonly #askForHost: AskForServersHost = async (serverName, host, connection, signal, earlier) => {
    const send = async (): Promise<"allowed"> => "allowed";
    const request = { ...hostRequest(serverName, host), signal, target: { kind: "direct", send } } as const;
    if (earlier !== undefined) {
      const { decision, rule, over = rule } = (await this.rules()).decide(request);
      if (decision === "allow") return "allowed";
      const isDenied = over.decision === "deny";
      return earlier === "allowed" || (earlier === "yes" && isDenied) ? "unanswered" : earlier;
    }
    const port = this.#wayToAsk(serverName, connection, signal);
    const given: { outcome?: ToolConfirmationOutcome } = {};
    const listening =
      port &&
      ((question: Parameters<ConfirmPort>[0]) =>
        port(async () => {
          const details = await question();
          if (details === false) return false;
          const onConfirm: typeof details.onConfirm = (outcome, how) => {
            given.outcome = outcome;
            return details.onConfirm(outcome, how);
          };
          return { ...details, onConfirm };
        }, signal));
    try {
      const answer = await runRequest({ ...request, confirm: listening }, this);
      return given.outcome === ToolConfirmationOutcome.ProceedOnce ? "yes" : answer;
    } catch {
      return given.outcome !== undefined && !isYes(given.outcome) ? "no" : "unanswered";
    }
  };

  async #apply(next: Configuration, onDecisions = (): void => {}): Promise<ServerChanges> {
    const { servers, registries, policy } = this;
    // A replaced server's tools are compared with the saved definitions, so the catalogs are saved first.
    await servers.flush();
    const wasTrusted = servers.configuration.trust.trusted;
    servers.setConfiguration(next);
    // The rules must not wait until the servers of a folder that is no longer trusted have ended.
    if (wasTrusted !== next.trust.trusted) await policy.renew();
    onDecisions();
    const updating = servers.update();
    registries.setOrder(servers.all());
    const changes = await updating;
    // A request may have started a replaced server already. What it lists stays.
    for (const name of [...changes.replaced, ...changes.removed])
      if (servers.find(name)?.catalog === undefined) registries.remove(name);
    await Promise.all([servers.recall(), policy.renew()]);
    return changes;
  }

  /** Starts the servers again that were used before a reload, and servers that the reload has added. */
  async #startAgain(wasUsed: readonly string[], how: { readonly all: boolean }): Promise<void> {
    const { servers } = this;
    await Promise.all([
      how.all ? servers.start() : undefined,
      servers.start(wasUsed.filter((name) => servers.find(name) !== undefined)),
    ]);
  }

  #load(): Promise<Configuration> | undefined {
    this.#watching?.renew();
    const { from, ide } = this.options;
    return from && loadConfiguration({ ...from, ide });
  }

  #usedServers(): readonly string[] {
    return this.servers.states().flatMap(({ name, ...state }) => (isIdle(state) ? [] : [name]));
  }

  #followIde(): void {
    const { from, ide } = this.options;
    if (from === undefined) return;
    ide?.onChange(() => {
      // A report that arrives during a reload needs one more reload, however many reports arrive.
      if (this.#isFollowUpPlanned) return;
      this.#isFollowUpPlanned = true;
      this.#following = this.#following.then(() => {
        this.#isFollowUpPlanned = false;
        return this.work.run(() => this.#takeOverFromIde()).catch(() => undefined);
      });
    });
  }

  /** Applies what the IDE reports now. If it cannot be known whether the folder is trusted, it is not. */
  async #takeOverFromIde(): Promise<void> {
    const { servers, events } = this;
    const wasUsed = this.#usedServers();
    const tell = (): void => {
      const { trusted, detail } = servers.configuration.trust;
      events.emit({ type: "ide_trust_changed", trusted, detail });
    };
    let next: Configuration | undefined;
    try {
      next = await this.#load();
      await this.takeOver(next, tell);
    } catch (error) {
      if (next === undefined) await this.#apply(withoutTrust(servers.configuration, unknownTrust), tell);
      const { message, next: step } = error instanceof HostError ? error : { message: errorMessage(error) };
      events.emit({ type: "settings_unread", message, next: step });
    }
    await this.#startAgain(wasUsed, { all: this.#isStarted });
  }
}

/** The settings files, the trusted-folders file, and the workspace's part of the approvals file. */
function watchedFiles({ settings, locations }: Configuration): readonly WatchedFile[] {
  const { state, root, trustedFolders } = locations;
  const files = settings.files.flatMap(({ file }) => (file === optionOrigin ? [] : [{ file }]));
  const readApproved = async (): Promise<string | undefined> => {
    const approvals = await readApprovals(state).catch(() => undefined);
    return approvals && JSON.stringify([...(approvals.get(root) ?? [])]);
  };
  return [...files, { file: trustedFolders }, { file: approvalsPath(state), read: readApproved }];
}

/** Whether the server is disabled, blocked, or has not been used yet (`lazy`). */
function isIdle(state: Omit<ServerState, "name">): boolean {
  if (state.status === "disabled" || state.status === "blocked") return true;
  return state.status === "disconnected" && "reason" in state && state.reason === "lazy";
}

const unknownTrust: TrustDecision = {
  trusted: false,
  source: "default",
  approvesEntries: false,
  detail: "the settings cannot be read",
};

/**
 * The first settings file that cannot be read. The file of an untrusted workspace does not count: with a mistake in it, a
 * workspace could keep its trust.
 */
function brokenFile({ settings, trust }: Configuration): SettingsFile | undefined {
  return settings.files.find(({ state, scope }) => state === "broken" && (scope !== "workspace" || trust.trusted));
}

function unreadSettings({ file }: SettingsFile, { problems }: Configuration): HostError {
  const problem = problems.find(({ origin, severity }) => origin?.file === file && severity === "error");
  const { message = `${file} cannot be read`, origin } = problem ?? {};
  return new HostError("settings_invalid", `${message}; the host keeps its earlier settings`, {
    next: `Correct ${file}${origin === undefined ? "" : ` at line ${origin.line}, column ${origin.column}`}.`,
  });
}

/** The configuration with the workspace's servers blocked. */
function withoutTrust(configuration: Configuration, trust: TrustDecision): Configuration {
  const facts = { ...configuration, trust, approvals: new Map() };
  return {
    ...configuration,
    trust,
    servers: configuration.servers.map(({ server }) => ({ server, admission: admit(server, facts) })),
  };
}
