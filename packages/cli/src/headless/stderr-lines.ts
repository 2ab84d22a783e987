/** Formats a turn's events as lines for stderr: calls, denials, errors and waiting. Pure functions. */

import { mediaText } from "@fairlead/core/normalise";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { CallEvent, CallFailure, TurnEvent } from "@fairlead/core/turn";
import { clip } from "@fairlead/wire/text";

/**
 * Returns the lines for an event. Returns no lines for an event that stderr does not show, such as the model's text.
 */
export function eventLines(event: TurnEvent): readonly SafeText[] {
  switch (event.type) {
    case "call":
      return callLines(event);
    case "quarantined": {
      const { server, serverToolName, reason } = event;
      return [safe`quarantined: ${toSafeLine(`${server}.${serverToolName}`)}: ${toSafeLine(reason)}`];
    }
    case "waiting":
      return [safe`waiting for ${toSafeLine(event.servers.join(", "))}`];
    case "missing":
      return event.servers.flatMap(({ server, ...why }) => withNext(safe`${toSafeLine(server)} not available`, why));
    case "note":
      return [safe`note: ${toSafeLine(event.message)}`];
    case "retry":
      return [safe`the model did not answer: ${toSafeLine(event.reason)}; trying again in ${seconds(event.delayMs)} s`];
    case "done":
    case "text":
    case "thought":
    case "progress":
    case "confirmation":
    case "usage":
    case "error":
      return [];
  }
}

/**
 * Returns the next steps for denied calls that `--allow` or a rule can allow. They are printed once, at the end of the
 * turn.
 */
export function deniedAdvice(denied: readonly CallEvent[]): readonly SafeText[] {
  const allowable = denied.filter(({ error }) => error?.next === undefined || allowingStep.test(error.next));
  const isTool = ({ serverToolName }: CallEvent): boolean => serverToolName !== undefined;
  // The lines about denied skills have the command that allows them.
  const isSkill = ({ error }: CallEvent): boolean => error?.next?.includes("--kind skill ") === true;
  return [
    ...(allowable.some(isTool) ? [safe`next: to allow a denied tool, add --allow SERVER.TOOL`] : []),
    ...(allowable.every((call) => isTool(call) || isSkill(call))
      ? []
      : [safe`next: to allow a denied resource, add a rule with kind = "resource" to a policy file`]),
  ];
}

const allowingStep = /^(?:add --allow|fairlead policy allow) /;

const longestArguments = 200;

function callLines(event: CallEvent): readonly SafeText[] {
  const { status, args, error, media = [], files = [] } = event;
  const name = callTitle(event);
  switch (status) {
    case "running":
      return [safe`${name} ${toSafeLine(clip(JSON.stringify(args), longestArguments))}`];
    case "ok":
    case "error":
    case "denied":
    case "cancelled":
      return [
        ...media.map(({ mimeType, data }) => safe`${name}: ${toSafeLine(mediaText(mimeType, data))}`),
        ...files.map((file) => safe`${name}: full result in ${toSafeLine(file)}`),
        ...(isEmpty(event) ? [safe`${name} returned an empty result`] : []),
        ...(error === undefined ? [] : failureLines(name, words[status], error)),
      ];
    case "requested":
    case "asking":
    case "queued":
      return [];
  }
}

function isEmpty({ status, display, media = [], files = [] }: CallEvent): boolean {
  return status === "ok" && display === "" && media.length === 0 && files.length === 0;
}

const words = {
  ok: safe`done`,
  error: safe`failed`,
  denied: safe`denied`,
  cancelled: safe`cancelled`,
} as const;

/** Returns the name of a call for messages. */
export function callTitle({ name, server, serverToolName = name }: CallEvent): SafeText {
  return toSafeLine(server === undefined ? name : `${server}.${serverToolName}`);
}

/** Puts the call's name before the error message, unless the message already begins with this name. */
function failureLines(name: SafeText, outcome: SafeText, failure: CallFailure): readonly SafeText[] {
  const message = toSafeLine(failure.message);
  if (!message.startsWith(safe`${name} `)) return withNext(safe`${name}: ${outcome}`, failure);
  return lineWithNext(message, failure.next);
}

function withNext(subject: SafeText, { message, next }: Omit<CallFailure, "code">): readonly SafeText[] {
  return lineWithNext(safe`${subject}: ${toSafeLine(message)}`, next);
}

function lineWithNext(line: SafeText, next: string | undefined): readonly SafeText[] {
  return next === undefined ? [line] : [joinSafe([line, safe`  next: ${toSafeLine(next)}`])];
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 100) / 10;
}
