/**
 * `fairlead doctor`: checks everything that servers depend on, connects to each server, and prints every finding with
 * its next step.
 */

import { exitCodeOf, HostError } from "@fairlead/core/errors";
import { type Environment, readSources, whereWritten } from "@fairlead/core/settings";
import {
  joinSafe,
  padSafe,
  repeatSafe,
  type SafeText,
  safe,
  toSafeLine,
  toVisibleLine,
} from "@fairlead/core/text/safe-text";
import { type Configuration, loadConfiguration } from "@fairlead/core/trust";
import { checkClients, readClientFacts } from "../doctor/check-clients.ts";
import { checkMachineAuth, readMachineFacts } from "../doctor/check-machine-auth.ts";
import { checkPackages, checkPrograms, readNodeFacts, readProgramFacts } from "../doctor/check-programs.ts";
import { checkPublished, readPublishedFacts } from "../doctor/check-published.ts";
import { checkSandboxes, readSandboxFacts } from "../doctor/check-sandboxes.ts";
import { checkPolicy, checkSettings, checkTrust } from "../doctor/check-settings.ts";
import {
  checkNetwork,
  checkSecrets,
  checkState,
  readNetworkFacts,
  readPolicyFacts,
  readSecretFacts,
  readStateFacts,
} from "../doctor/check-state.ts";
import type { ServerChecks } from "../doctor/connect-and-check.ts";
import {
  concerning,
  type DoctorFinding,
  type FindingGroup,
  findingGroups,
  inGroup,
  problem,
  type Severity,
} from "../doctor/finding.ts";
import { count, type Output, type Style } from "../output/output.ts";
import { serverDocument } from "../output/servers/server-state.ts";
import { columnsOf, fill, words } from "../output/wrap.ts";
import { configurationOptions } from "../shell/configuration.ts";
import type { Context, Io, Verb } from "../shell/verb.ts";
import { findServer } from "./mcp/find-server.ts";

export const verb: Verb = {
  help: `
Checks settings, trust, approvals, policy files, server programs and their PATH, proxies, certificates, the secret store,
Fairlead's state folder, connected clients, and packages without an exact version. Then connects to every server that may start. Each finding
names its cause and the next step. Doctor changes no settings.

  problem   something does not work
  warning   it works, but you should change it
  note      for information

Examples:
  fairlead doctor
  fairlead doctor github
  fairlead doctor --json
  fairlead doctor --strict          for scripts: exit code 0 only if there is no problem`,

  define(command) {
    command
      .argument("[server]", "check only this server; general checks still run")
      .option("--strict", "exit with the code of the worst problem instead of 0");
  },

  async run(context) {
    const { out, globals, command, operands } = context;
    const [name] = operands;
    const configuration = await load(context);
    const isWhole = !(configuration instanceof HostError);
    if (isWhole && name !== undefined) findServer(configuration, name);
    const before = isWhole
      ? concerning(await examine(only(configuration, name), context.io), name)
      : await examineWithoutSettings(configurationOptions(context).environment, configuration);
    print(findingGroups.slice(0, -1), before, context);
    const { listed, findings: after } = isWhole ? await visit(configuration, name, before, context) : noServers;
    print(findingGroups.slice(-1), after, context);
    const findings = [...before, ...after];
    if (globals.json) out.json({ findings, servers: listed.map(serverDocument) });
    else out.show(safe`\n${summary(findings)}`);
    if (command.opts<{ strict?: boolean }>().strict) failOnWorst(findings);
  },
};

const noServers: ServerChecks = { listed: [], findings: [] };

/**
 * Loads the configuration. If the settings files cannot be located, returns the error, so that doctor can report it.
 */
async function load(context: Context): Promise<Configuration | HostError> {
  try {
    return await loadConfiguration(configurationOptions(context));
  } catch (error) {
    if (error instanceof HostError && error.code === "settings_invalid") return error;
    throw error;
  }
}

function only(configuration: Configuration, name: string | undefined): Configuration {
  const servers = configuration.servers.filter(({ server }) => name === undefined || server.name === name);
  return { ...configuration, servers };
}

async function visit(
  configuration: Configuration,
  name: string | undefined,
  earlierFindings: readonly DoctorFinding[],
  context: Context,
): Promise<ServerChecks> {
  const { servers } = only(configuration, name);
  if (servers.length === 0) return noServers;
  const { connectAndCheck } = await import("../doctor/connect-and-check.ts");
  return connectAndCheck(servers, configuration, earlierFindings, context);
}

function print(
  shown: readonly FindingGroup[],
  findings: readonly DoctorFinding[],
  { io, out, globals }: Context,
): void {
  if (globals.json) return;
  const look = { style: out.style, typed: out.typed, columns: columnsOf(io.stdout) };
  const texts = shown.flatMap((group) => groupText(group, findings, look) ?? []);
  if (texts.length > 0) out.show(joinSafe(texts));
}

function failOnWorst(findings: readonly DoctorFinding[]): void {
  const codes = findings.flatMap(({ severity, code }) => (severity === "problem" && code !== undefined ? [code] : []));
  const worst = codes.toSorted((a, b) => exitCodeOf(b) - exitCodeOf(a))[0];
  if (worst !== undefined) throw new HostError(worst, summary(findings), { next: "fairlead doctor" });
}

interface Look extends Pick<Output, "style" | "typed"> {
  readonly columns: number;
}

const groupWidth = Math.max(...findingGroups.map((group) => group.length));
const severityWidth = "problem".length;
const worstFirst: readonly Severity[] = ["problem", "warning", "note"];

function groupText(group: FindingGroup, findings: readonly DoctorFinding[], look: Look): SafeText | undefined {
  const own = findings.filter((finding) => finding.group === group);
  const fine = own.filter(({ severity }) => severity === "ok").map(({ message }) => toVisibleLine(message));
  const rows: Row[] = [
    ...(fine.length === 0 ? [] : [{ severity: "ok" as const, message: joinSafe(fine, safe`; `) }]),
    ...worstFirst.flatMap((severity) => own.filter((finding) => finding.severity === severity).map(toRow)),
  ];
  if (rows.length === 0) return undefined;
  return joinSafe(rows.flatMap((row, at) => rowLines(row, at === 0 ? group : "", look)));
}

interface Row {
  readonly severity: Severity;
  readonly message: SafeText;
  readonly next?: SafeText;
}

function toRow({ severity, message, next }: DoctorFinding): Row {
  return { severity, message: toVisibleLine(message), next: next === undefined ? undefined : toSafeLine(next) };
}

function rowLines(
  { severity, message, next }: Row,
  group: FindingGroup | "",
  { style, typed, columns }: Look,
): SafeText[] {
  const label = style.bold(padSafe(toSafeLine(group), groupWidth));
  const word = style[colours[severity]](padSafe(toSafeLine(severity), severityWidth));
  const hanging = repeatSafe(safe` `, groupWidth + severityWidth + 4);
  return [
    ...fill(words(message), { columns, indent: safe`${label}  ${word}  `, hanging }),
    // The line with the next step is not wrapped, so that the user can copy its command.
    ...(next === undefined ? [] : [safe`${hanging}next: ${typed(next)}`]),
  ];
}

const colours: Readonly<Record<Severity, keyof Style>> = {
  ok: "green",
  note: "cyan",
  warning: "yellow",
  problem: "red",
};

/** Returns the number of findings of each severity in words, such as `2 problems, 1 warning`. */
function summary(findings: readonly DoctorFinding[]): SafeText {
  const number = (wanted: Severity): number => findings.filter(({ severity }) => severity === wanted).length;
  return safe`${count(number("problem"), "problem")}, ${count(number("warning"), "warning")}`;
}

/** Runs all checks that start no server. */
async function examine(configuration: Configuration, io: Pick<Io, "signal">): Promise<readonly DoctorFinding[]> {
  const { environment, locations, servers } = configuration;
  const admitted = servers.filter(({ admission }) => admission.status === "admitted");
  const definitions = servers.flatMap(({ server }) => server.definition ?? []);
  // The state folder is checked first, because opening the secret store silently repairs the folder's permissions.
  const state = await readStateFacts(locations.state);
  const [sources, policy, programs, network, secrets, machines, clients, published, noSandbox] = await Promise.all([
    readSources(locations),
    readPolicyFacts(configuration),
    readProgramFacts(
      configuration,
      admitted.flatMap(({ server }) => server.definition ?? []),
    ),
    readNetworkFacts(environment),
    readSecretFacts(configuration),
    readMachineFacts(definitions, environment),
    readClientFacts(locations.state),
    readPublishedFacts(configuration, io),
    readSandboxFacts(configuration, definitions),
  ]);
  const isUsed = definitions.some(({ transport }) => transport.kind !== "stdio");
  // Fairlead ignores `security.folderTrust.enabled` in workspace settings, so they are left out.
  const deciding = sources.filter(({ scope }) => scope !== "workspace");
  const folderTrust = whereWritten(deciding, "security", "folderTrust", "enabled").at(-1);
  return [
    ...inGroup("settings", checkSettings(configuration)),
    ...inGroup("trust", checkTrust({ ...configuration, folderTrust })),
    ...inGroup("policy", checkPolicy(policy)),
    ...inGroup("programs", [...checkPrograms(programs), ...checkSandboxes(definitions, noSandbox)]),
    ...inGroup("network", checkNetwork({ ...network, isUsed })),
    ...inGroup("secrets", [...checkSecrets(secrets), ...checkMachineAuth(machines)]),
    ...inGroup("state", checkState(state)),
    ...inGroup("packages", [...checkPackages(definitions), ...checkPublished(published)]),
    ...inGroup("clients", checkClients(clients)),
  ];
}

/** Runs the checks that need no settings. `why` is the error from locating the settings files. */
async function examineWithoutSettings(environment: Environment, why: HostError): Promise<readonly DoctorFinding[]> {
  const launchContext = { environment, root: environment.cwd, trusted: false };
  const [programs, network] = await Promise.all([readNodeFacts(launchContext), readNetworkFacts(environment)]);
  return [
    ...inGroup("settings", [problem(why)]),
    ...inGroup("programs", checkPrograms({ ...programs, launches: [] })),
    ...inGroup("network", checkNetwork({ ...network, isUsed: false })),
  ];
}
