/** Finds the digest of the local image with a given name. */

import { HostError } from "@fairlead/core/errors";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { ExactName, PinRequest } from "./pin-request.ts";

const image = /^[\w][\w.:/-]*$/;

export async function imageDigest({ server, download, run }: PinRequest): Promise<ExactName> {
  const { name, launcher } = download;
  if (!image.test(name))
    throw new HostError("usage", `"${server}" cannot be pinned: ${name} is not an image name`, { serverName: server });
  const { isDone, stdout, stderr } = await run(launcher, [
    "image",
    "inspect",
    "--format",
    "{{json .RepoDigests}}",
    name,
  ]);
  if (!isDone)
    throw /no such image|image not known/i.test(stderr)
      ? new HostError("usage", `image ${name} not found on this machine`, {
          serverName: server,
          next: `${toShellWord(launcher)} pull ${name}`,
        })
      : new HostError(
          "unreachable",
          `digest of ${name} not found: ${launcher}: ${stderr.trim() || "it said nothing"}`,
          {
            serverName: server,
          },
        );
  const digests = [...stdout.matchAll(/"([^"@]+)@(sha256:[0-9a-f]{64})"/g)];
  const repository = name.replace(/:[\w.-]+$/, "");
  const [, , digest] = digests.find(([, owner]) => owner === repository) ?? digests[0] ?? [];
  if (digest === undefined)
    throw new HostError("usage", `image ${name} has no digest: it was built on this machine`, {
      serverName: server,
      next: "push the image to a registry, and pull it",
    });
  return { name: `${name}@${digest}` };
}
