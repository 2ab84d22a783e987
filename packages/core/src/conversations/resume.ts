/** Computes the state for continuing a recorded conversation. Pure. */

import type { Content, Part } from "../normalise/model-types.ts";
import { toolKey } from "../normalise/tool-name.ts";
import type { GivenApproval } from "../policy/conversation-approvals.ts";
import type { StoredResult } from "../results/result-handles.ts";
import type { Pin } from "../server/names.ts";
import type { LoadedSkill } from "../skills/loaded-skills.ts";
import type { EarlierConversation } from "../turn/conversation.ts";
import { type CallResponse, callsIn, type History, isUnanswered, responseContents } from "../turn/history.ts";
import type { ConversationHead, RecordedLine } from "./format.ts";
import type { RecordedConversation } from "./read-conversation.ts";

/** The state of a recorded conversation after the last line of its file. */
export interface ResumedConversation extends EarlierConversation {
  readonly model: ConversationHead["model"];
  /** Approvals that the user gave in this conversation, for the current workspace. */
  readonly approvals: readonly GivenApproval[];
}

const interrupted = "[Fairlead was stopped before there was an answer.]";

/**
 * Computes the state after the last recorded line.
 *
 * @param workspace The current workspace root. Approvals for other workspaces do not apply.
 */
export function resumeFrom({ head, lines }: RecordedConversation, workspace: string): ResumedConversation {
  let history: History = [];
  let round: { readonly content: Content; readonly responses: (CallResponse | undefined)[] } | undefined;
  let { model } = head;
  let title: string | undefined;
  let functions: EarlierConversation["functions"];
  let offered: EarlierConversation["offered"] = [];
  let recordedWorkspace = head.workspace;
  const callIds = new Set<string>();
  const names = new Map<string, Pin>();
  const disabled = new Map<string, { readonly server: string; readonly serverToolName: string }>();
  const approvals: GivenApproval[] = [];
  const results: StoredResult[] = [];
  const loadedSkills: LoadedSkill[] = [];

  /**
   * Adds the model's last message and the responses of its tool calls to the history. If the file has no response for a
   * call, adds a generated one.
   */
  function endRound(): void {
    if (round === undefined) return;
    history = [...history, round.content, ...responseContents(callsIn(round.content), round.responses)];
    round = undefined;
  }

  /** Completes a turn that a killed process left open. In the history, user and model messages must alternate. */
  function endTurn(): void {
    endRound();
    if (isUnanswered(history)) history = [...history, { role: "model", parts: [{ text: interrupted }] }];
  }

  function add(content: Content): void {
    endRound();
    const usable = withoutLostMedia(content);
    if (usable.role === "model" && callsIn(usable).length > 0) round = { content: usable, responses: [] };
    else history = [...history, usable];
  }

  function take(line: RecordedLine): void {
    switch (line.type) {
      case "input":
      case "resumed":
        if (line.type === "resumed") recordedWorkspace = line.workspace;
        endTurn();
        break;
      case "content":
        add(line.content);
        break;
      case "response":
        if (round && line.index < callsIn(round.content).length)
          round.responses[line.index] = { part: withoutLost(line.part), beside: (line.beside ?? []).map(withoutLost) };
        break;
      case "rewind":
        endRound();
        history = history.slice(0, line.to);
        break;
      case "compact":
        round = undefined;
        history = line.contents;
        break;
      case "result": {
        const { id, what, server } = line;
        results.push({ id, what, server });
        break;
      }
      case "skill": {
        const { server, uri } = line;
        loadedSkills.push({ server, uri });
        break;
      }
      case "model":
        model = { provider: line.provider, name: line.name };
        break;
      case "names":
        for (const pin of line.tools) names.set(pin.as, pin);
        functions = line.functions ?? functions;
        break;
      case "offered":
        offered = [...offered.slice(0, line.from), ...line.places];
        break;
      case "tool": {
        const { server, serverToolName, enabled } = line;
        const key = toolKey(server, serverToolName);
        if (enabled) disabled.delete(key);
        else disabled.set(key, { server, serverToolName });
        break;
      }
      case "title":
        ({ title } = line);
        break;
      case "approval":
        if (recordedWorkspace === workspace) approvals.push(line.approval);
        break;
      case "call":
        callIds.add(line.id);
        break;
      case "text":
      case "thought":
      case "progress":
      case "quarantined":
      case "waiting":
      case "missing":
      case "note":
      case "retry":
      case "usage":
      case "done":
      case "error":
    }
  }

  for (const line of lines) take(line);
  endTurn();
  return {
    history,
    model,
    callIds: [...callIds],
    names: [...names.values()],
    offered,
    results,
    loadedSkills,
    disabled: [...disabled.values()],
    approvals,
    title,
    functions,
  };
}

function withoutLostMedia({ role, parts }: Content): Content {
  return { role, parts: parts.map(withoutLost) };
}

/**
 * Replaces media without data by a text, or removes it from a tool's response, because model APIs refuse empty media.
 */
function withoutLost(part: Part): Part {
  const { inlineData, functionResponse } = part;
  if (inlineData?.data === "") return { text: `[${inlineData.mimeType ?? "media"} that is no longer stored]` };
  const media = functionResponse?.parts;
  if (media === undefined || media.every((each) => each.inlineData?.data !== "")) return part;
  const { parts: _parts, ...response } = functionResponse ?? {};
  const left = media.filter((each) => each.inlineData?.data !== "");
  return { ...part, functionResponse: { ...response, parts: left.length > 0 ? left : undefined } };
}
