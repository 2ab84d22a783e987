/** The steps of a connection attempt as text and as JSON, for `mcp test`. */

import type { ConnectStep } from "@fairlead/core/connect/connect-step";
import type { Redact } from "@fairlead/core/connect/redact";
import type { ListStep } from "@fairlead/core/discover/catalog";
import type { Origin } from "@fairlead/core/settings/define/definition";
import { joinSafe, padSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { place } from "./server-details.ts";
import { redact } from "./server-redaction.ts";

export type Step = ConnectStep | ListStep;
export type Label = Step["step"] | "note" | "stderr" | "answer";
const labelWidth = "environment".length;

/** A label with its lines; the first line ends with the duration, if it is at least 1 ms. */
export function stepText(label: Label, lines: readonly SafeText[], milliseconds?: number): SafeText {
  const time = milliseconds === undefined || milliseconds < 1 ? safe`` : safe`  (${Math.round(milliseconds)} ms)`;
  return joinSafe(
    lines.map((line, at) => {
      const head = padSafe(toSafeLine(at === 0 ? label : ""), labelWidth);
      return safe`  ${head}  ${line}${at === 0 ? time : safe``}`;
    }),
  );
}

/** The step with secrets hidden: a server or a path can repeat them. */
export function withoutSecrets(step: Step, hide: Redact): Step {
  switch (step.step) {
    // These hold no values.
    case "definition":
    case "environment":
    case "start":
      return step;
    case "program": {
      const { file, cwd, droppedPath } = step;
      return {
        ...step,
        ...(file === undefined ? {} : { file: hide(file) }),
        cwd: hide(cwd),
        droppedPath: droppedPath.map(hide),
      };
    }
    case "handshake": {
      const { name, version, title } = step.serverInfo;
      const serverInfo = {
        name: hide(name),
        version: hide(version),
        ...(title === undefined ? {} : { title: hide(title) }),
      };
      return { ...step, serverInfo };
    }
    case "list":
      return step.refused === undefined ? step : { ...step, refused: hide(step.refused) };
  }
}

export function stepLines(step: Step, origin: Origin): SafeText[] {
  switch (step.step) {
    case "definition": {
      const { transport, timeout } = step;
      return [
        safe`${place(origin)} (${toSafeLine(origin.scope)})`,
        targetLine(transport),
        safe`waits ${timeout.milliseconds} ms at most (${toSafeLine(timeout.setting)})`,
      ];
    }
    case "program":
      return [
        step.file === undefined ? safe`not found` : toVisibleLine(step.file),
        safe`in ${toVisibleLine(step.cwd)}`,
        ...(step.droppedPath.length === 0
          ? []
          : [safe`not searched: ${names(step.droppedPath)} (the folder is not trusted)`]),
      ];
    case "environment":
      return [
        safe`passed on: ${names(step.passed)}`,
        ...(step.set.length === 0 ? [] : [safe`set by the entry: ${names(step.set)}`]),
        safe`withheld: ${names(step.withheld)}`,
      ];
    case "start":
      return [safe`process started`];
    case "handshake": {
      const { serverInfo, protocolVersion, era, transport } = step;
      const server = safe`${toSafeLine(serverInfo.name)} ${toSafeLine(serverInfo.version)}`;
      return [
        safe`${server}, protocol ${toSafeLine(protocolVersion)} (${eraWords(era)}) over ${transportWords(transport)}`,
      ];
    }
    case "list": {
      const items = step.refused === undefined ? safe`${step.items}` : safe`refused: ${toSafeLine(step.refused)}`;
      return [safe`${toSafeLine(step.method)}: ${items}`];
    }
  }
}

function eraWords(era: "legacy" | "modern"): SafeText {
  return era === "modern" ? safe`stateless` : safe`with a session`;
}

function transportWords(transport: "stdio" | "http" | "sse"): SafeText {
  return toSafeLine({ stdio: "stdio", http: "streamable HTTP", sse: "HTTP+SSE" }[transport]);
}

function targetLine(transport: Parameters<typeof redact>[0]): SafeText {
  const shown = redact(transport);
  return shown.kind === "stdio"
    ? safe`stdio: ${toVisibleLine([shown.command, ...shown.args].join(" "))}`
    : safe`${shown.kind === "http-or-sse" ? safe`http, then sse` : toSafeLine(shown.kind)}: ${toVisibleLine(shown.url)}`;
}

function names(list: readonly string[]): SafeText {
  return list.length === 0 ? safe`(nothing)` : joinSafe(list.map(toVisibleLine), safe`, `);
}

/** The step as JSON; values of variables and headers are hidden. */
export function stepDocument(step: Step): object {
  const { milliseconds, ...rest } = step;
  const durationMs = Math.round(milliseconds);
  if (rest.step !== "definition") return { ...rest, durationMs };
  const { transport, timeout } = rest;
  const shown = redact(transport);
  const { kind } = shown;
  const target = shown.kind === "stdio" ? { command: shown.command, args: shown.args } : { url: shown.url };
  return { step: rest.step, transport: kind, ...target, patience: timeout, durationMs };
}
