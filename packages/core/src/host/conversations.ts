/** The conversations of a host: creates, records, resumes and lists them. */

import { errorMessage } from "@fairlead/wire/text";
import type { ConversationFile } from "../conversations/conversation-file.ts";
import { type ConversationRecorder, createConversationRecorder } from "../conversations/conversation-recorder.ts";
import { type ConversationHead, createConversationId } from "../conversations/format.ts";
import { HostError } from "../errors.ts";
import { assumedModel } from "../model/assumed.ts";
import type { Model } from "../model/model.ts";
import type { GivenApproval } from "../policy/conversation-approvals.ts";
import {
  type Conversation,
  type ConversationRecord,
  createConversation,
  type RecordChange,
} from "../turn/conversation.ts";
import type { RunningHost } from "./running-host.ts";
import type { Host, NewConversation } from "./types.ts";

/** The members of a host that concern conversations. */
export interface HostConversations extends Pick<Host, "conversation" | "conversations" | "runTurn" | "toolOffers"> {
  /** Resolves when all conversations are on disk. After that, nothing more is recorded. */
  readonly close: () => Promise<void>;
}

/** Creates the conversations of a host. They are recorded unless the settings turn that off. */
export function createHostConversations(host: RunningHost): HostConversations {
  const { options } = host;
  const recorders = createConversationRecorders(host);

  function check({ model = options.model, servers = [] }: NewConversation): Model {
    if (host.work.closing.aborted) throw new HostError("usage", "this host has been closed");
    if (model === undefined)
      throw new HostError("usage", "no model configured", {
        next: 'Pass "model" to createHost() or to conversation().',
      });
    // `get` throws if the server is not configured.
    for (const server of servers) host.servers.get(server);
    return model;
  }

  function begin(how: NewConversation): Conversation {
    const model = check(how);
    return createConversation({ ...how, model }, host, recorders.begin(model));
  }

  async function resume(id: string, how: NewConversation): Promise<Conversation> {
    const model = check(how);
    return createConversation({ ...how, model }, host, await recorders.resume(id, model));
  }

  function conversation(how?: NewConversation): Conversation;
  function conversation(how: NewConversation & { readonly resume: string }): Promise<Conversation>;
  function conversation({
    resume: id,
    ...how
  }: NewConversation & { readonly resume?: string } = {}): Conversation | Promise<Conversation> {
    return id === undefined ? begin(how) : resume(id, how);
  }

  return {
    conversation,
    async toolOffers({ model = options.model ?? assumedModel, ...how } = {}) {
      check({ ...how, model });
      return createConversation({ ...how, model }, host, unrecorded("")).offers();
    },
    async conversations(search) {
      const { listConversations } = await import("../conversations/list-conversations.ts");
      // The list must include a conversation that has just ended.
      await recorders.whenSaved();
      return listConversations(await recorders.folder(), search);
    },
    async *runTurn(input, { conversation: earlier, signal, references, before, shown, waitFor, ...how } = {}) {
      const running = earlier ?? begin(how);
      try {
        yield* running.send(input, { signal, references, before, shown, waitFor });
      } finally {
        if (earlier === undefined) await running.close();
      }
    },
    close: recorders.close,
  };
}

function unrecorded(id: string): ConversationRecord {
  return { id, record: () => {}, close: async () => {} };
}

interface ConversationRecorders {
  readonly folder: () => Promise<string>;
  /** Resolves when the changes so far are on disk. */
  readonly whenSaved: () => Promise<void>;
  readonly begin: (model: Model) => ConversationRecord;
  /**
   * Continues a recorded conversation.
   *
   * @throws HostError `not_found`, `busy`, `usage`
   */
  readonly resume: (id: string, model: Model) => Promise<ConversationRecord>;
  readonly close: () => Promise<void>;
}

function createConversationRecorders({ servers, policy, secrets, now, events }: RunningHost): ConversationRecorders {
  const { approvals } = policy;
  /** Recorders with changes that may not be on disk yet. */
  const active = new Set<Pick<ConversationRecorder, "close" | "whenSaved">>();
  const ending = new Set<Promise<void>>();
  let isOver = false;

  const isRecording = (): boolean => servers.configuration.settings.host.recording;
  const root = (): string => servers.configuration.locations.root;

  async function folder(): Promise<string> {
    const { conversationsFolder } = await import("../conversations/conversation-file.ts");
    return conversationsFolder(servers.configuration.locations.state);
  }

  async function open(id: string, size: number | undefined): Promise<ConversationFile> {
    const { createConversationFile, openConversationFile } = await import("../conversations/conversation-file.ts");
    const folderPath = await folder();
    if (size === undefined) {
      const { rotateConversations } = await import("../conversations/list-conversations.ts");
      const file = await createConversationFile(folderPath, id);
      // A new conversation can begin even if an old one cannot be removed.
      await rotateConversations(folderPath).catch(() => undefined);
      return file;
    }
    const file = await openConversationFile(folderPath, id);
    if (file.size() === size) return file;
    await file.close();
    throw new HostError("busy", `the conversation ${id} was continued by another process`);
  }

  /** @param others Approvals from this run that are not yet in the conversation's file. */
  function start(
    head: ConversationHead,
    others: readonly GivenApproval[],
    resumed?: ConversationFile,
  ): Pick<ConversationRecord, "record" | "close"> {
    const recorder = createConversationRecorder({
      head,
      workspace: root(),
      resumed,
      open: (size) => open(head.id, size),
      hide: () => secrets.redactor(),
      hidesResults: (server) => servers.find(server)?.definition?.extras.hideResults === true,
      now,
      onFailed: (error) =>
        events.emit({ type: "conversation_not_recorded", conversation: head.id, message: errorMessage(error) }),
    });
    let unrecorded = others;
    let seen = approvals.given().length;
    const record: RecordChange = (change) => {
      if (isOver) return;
      for (const approval of [...unrecorded, ...approvals.given().slice(seen)]) recorder.approve(approval);
      unrecorded = [];
      seen = approvals.given().length;
      recorder.record(change);
      active.add(writing);
    };
    const close = async (): Promise<void> => {
      active.delete(writing);
      const ended = recorder.close();
      ending.add(ended);
      await ended;
      ending.delete(ended);
    };
    const writing = { whenSaved: recorder.whenSaved, close };
    if (resumed) active.add(writing);
    return { record, close };
  }

  return {
    folder,
    begin({ provider, name }) {
      const id = createConversationId(now());
      if (!isRecording()) return unrecorded(id);
      const time = new Date(now()).toISOString();
      const head: ConversationHead = { v: 1, id, time, workspace: root(), model: { provider, name } };
      return { id, ...start(head, [...approvals.given()]) };
    },
    async resume(wanted, { provider, name }) {
      const [{ openConversationFile, conversationPath }, { readConversation }, { resumeFrom }, { findConversation }] =
        await Promise.all([
          import("../conversations/conversation-file.ts"),
          import("../conversations/read-conversation.ts"),
          import("../conversations/resume.ts"),
          import("../conversations/list-conversations.ts"),
        ]);
      const folderPath = await folder();
      const { id } = await findConversation(folderPath, wanted);
      const file = await openConversationFile(folderPath, id);
      try {
        const recorded = await readConversation(conversationPath(folderPath, id));
        const { approvals: given, model, ...earlier } = resumeFrom(recorded, root());
        const others = [...approvals.given()];
        for (const approval of given) approvals.restore(approval);
        if (!isRecording()) {
          await file.close();
          return { ...unrecorded(id), earlier };
        }
        const started = start(recorded.head, others, file);
        if (model.name !== name || model.provider !== provider) started.record({ type: "model", provider, name });
        return { id, ...started, earlier };
      } catch (error) {
        await file.close();
        throw error;
      }
    },
    async whenSaved() {
      await Promise.all([...[...active].map(({ whenSaved }) => whenSaved()), ...ending]);
    },
    async close() {
      await Promise.all([...[...active].map(({ close }) => close()), ...ending]);
      isOver = true;
    },
  };
}
