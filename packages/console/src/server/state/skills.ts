/** The skills of all servers, and which of their files the person has accepted. */

import { HostError } from "@fairlead/core/errors";
import type { HostSkill, OpenedHost } from "@fairlead/core/host";
import { skillBytes } from "@fairlead/core/server";
import type { SkillCommands, SkillRow } from "../../protocol/skills.ts";
import { aText, type Handlers } from "./parameters.ts";
import { decisionWord } from "./tools.ts";

/** @param onChanged Called when a skill was accepted. */
export function skillCommands(host: OpenedHost, onChanged: () => void): Handlers<SkillCommands> {
  async function toRow(skill: HostSkill): Promise<SkillRow> {
    const { server, uri, label, description, files, isChanged } = skill;
    const { skills } = host.gateway.servers.get(server);
    await skills.load();
    const { decision } = await host.decide(server, uri, undefined, { kind: "skill" });
    return {
      server,
      uri,
      label,
      description,
      files: files?.length,
      bytes: files && skillBytes(skill),
      isAccepted: skill.digest !== undefined && skills.acceptedDigest(skill) === skill.digest,
      isChanged,
      decision: decisionWord(decision),
    };
  }

  return {
    "skills/list": {
      takes: {},
      run: async () => ({ skills: await Promise.all(host.skills().map(toRow)) }),
    },
    "skills/show": {
      takes: { server: aText, uri: aText },
      async run({ server, uri }) {
        const skill = host.skills(server).find((each) => each.uri === uri);
        if (skill === undefined)
          throw new HostError("not_found", `"${server}" has no skill "${uri}"`, { serverName: server });
        return {
          skill: await toRow(skill),
          digest: skill.digest,
          files: (skill.files ?? []).map(({ path, size, digest }) => ({ path, size, digest })),
          change: await host.changeOf(server, uri, "skill"),
        };
      },
    },
    "skills/accept": {
      takes: { server: aText, uri: aText, digest: aText },
      async run({ server, uri, digest }) {
        await host.accept(server, uri, digest, "skill");
        onChanged();
        return {};
      },
    },
  };
}
