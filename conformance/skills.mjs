/**
 * Runs the scenarios about skills (SEP-2640). The host has no skills yet, so the official SDK's client for this
 * extension runs over a session of our wire. These scenarios need no sign-in.
 */

import { Client } from "@modelcontextprotocol/client";
import { SkillsClient, SkillVerificationError } from "@modelcontextprotocol/client/ext/skills";
import { connect } from "./bundle/index.js";
import { sdkTransport } from "./sdk-transport.mjs";

const clientInfo = { name: "fairlead-conformance", version: "1.0.0" };

export async function useSkills(scenario, url) {
  const capabilities = { extensions: { "io.modelcontextprotocol/skills": {} } };
  const session = await connect({ kind: "http-or-sse", url, headers: {} }, { clientInfo, capabilities });
  try {
    const client = new Client(clientInfo, { versionNegotiation: { mode: "auto" } });
    await client.connect(sdkTransport(session));
    const skills = new SkillsClient(client);
    const { skills: listed } = await skills.list();
    if (scenario !== "sep-2640-client-no-prefetch") for (const skill of listed) await read(skills, skill);
  } finally {
    await session.close();
  }
}

/** A skill that differs from its entry is not loaded. */
async function read(skills, skill) {
  try {
    await skills.read(skill);
  } catch (error) {
    if (!(error instanceof SkillVerificationError)) throw error;
    process.stderr.write(`${skill.uri} was refused: ${error.message}\n`);
  }
}
