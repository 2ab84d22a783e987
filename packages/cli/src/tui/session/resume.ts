/**
 * Continues a recorded conversation in the app: with `--continue` or `--resume` at the start, or later with `/resume`.
 */

import { conversationPath, findConversation, readConversation } from "@fairlead/core/conversations";
import { HostError } from "@fairlead/core/errors";
import type { Model } from "@fairlead/core/model";
import {
  folderOf,
  modelNameOf,
  type ResumeOptions,
  wantedConversation,
} from "../../conversations/find-conversation.ts";
import { appEvents } from "../../conversations/recorded-events.ts";
import { conversationLine } from "../../output/reports/conversation-text.ts";
import type { Services } from "../services.ts";

const mostListed = 20;

/**
 * Handles `--continue` (the latest conversation), `--resume ID`, and `--resume` (the user chooses). Without them, does
 * nothing.
 */
export async function resumeAtStart(options: ResumeOptions, services: Services): Promise<void> {
  if (options.resume === true) return chooseConversation(services);
  const wanted = await wantedConversation(options, services.session.host.configuration);
  if (wanted !== undefined) await resumeConversation(wanted.id, services);
}

/**
 * Shows the latest conversations. Continues the one that the user chooses.
 * @throws HostError `not_found` if there is no other conversation
 */
export async function chooseConversation(services: Services): Promise<void> {
  const { session, context } = services;
  const all = await session.host.conversations({ limit: mostListed });
  const found = all.filter(({ id }) => id !== session.conversation.id);
  if (found.length === 0) throw new HostError("not_found", "there is no other recorded conversation");
  const now = Date.now();
  const options = found.map((info) => conversationLine(info, { home: context.io.home, now }));
  const message = "Which conversation do you want to continue?";
  const chosen = await session.ask("choice", { kind: "choice", serverName: "Fairlead", message, options });
  const info = chosen === undefined ? undefined : found[chosen];
  if (info !== undefined) await resumeConversation(info.id, services);
}

/**
 * Continues a recorded conversation. `wanted`: its id.
 * @throws HostError `not_found`; `busy` if it is open in another process, or while a turn runs; `usage` if it is open
 * here
 */
export async function resumeConversation(wanted: string, services: Services): Promise<void> {
  const { session } = services;
  if (session.store.get().turn.kind === "running")
    throw new HostError("busy", "the turn is still running", { next: "press Esc to stop the turn, then: /resume" });
  const folder = folderOf(session.host.configuration);
  const info = await findConversation(folder, wanted);
  if (info.id === session.conversation.id) throw new HostError("usage", "this conversation is already open");
  const { model, isWanted } = await modelOf(modelNameOf(info), services);
  const conversation = await session.host.conversation({ resume: info.id, model });
  const recorded = await readConversation(conversationPath(folder, info.id));
  session.take(
    conversation,
    [...appEvents(recorded)].map(({ event }) => event),
  );
  session.note("info", `Continuing the conversation ${info.id}. The model is ${model.name}.`);
  if (model.name !== info.model.name)
    session.note(
      isWanted ? "info" : "warning",
      `The conversation's model was ${info.model.name}${isWanted ? "" : ", which is not configured"}.`,
      `/model ${info.model.name}`,
    );
}

interface ResumedModel {
  readonly model: Model;
  /** Whether the user named the model with `--model`. */
  readonly isWanted: boolean;
}

/**
 * Returns the model with which the conversation was recorded, if it is configured. Otherwise, or with `--model`,
 * returns the current model.
 */
async function modelOf(name: string | undefined, { session, models, context }: Services): Promise<ResumedModel> {
  const isWanted = context.command.opts<{ readonly model?: string }>().model !== undefined;
  if (name === undefined || isWanted) return { model: session.model(), isWanted };
  if (name === models.manual.name) return { model: models.manual, isWanted };
  const choice = await models.find(name);
  return { model: choice.kind === "model" ? choice.model : session.model(), isWanted };
}
