/** The very image that a name stands for on this machine now. */

import { HostError } from "@fairlead/core/errors";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { ExactName, PinRequest } from "./pin-request.ts";

const image = /^[\w][\w.:/-]*$/;

export async function imageDigest({ server, download, run }: PinRequest): Promise<ExactName> {
  const { name, launcher } = download;
  if (!image.test(name))
    throw new HostError("usage", `"${server}" runs ${name}, which is not the name of an image`, { serverName: server });
  const { isDone, stdout, stderr } = await run(launcher, [
    "image",
    "inspect",
    "--format",
    "{{json .RepoDigests}}",
    name,
  ]);
  if (!isDone)
    throw /no such image|image not known/i.test(stderr)
      ? new HostError("usage", `the image ${name} is not on this machine yet`, {
          serverName: server,
          next: `${toShellWord(launcher)} pull ${name}`,
        })
      : new HostError(
          "unreachable",
          `${launcher} does not say which image ${name} is: ${stderr.trim() || "it said nothing"}`,
          {
            serverName: server,
          },
        );
  const digests = [...stdout.matchAll(/"([^"@]+)@(sha256:[0-9a-f]{64})"/g)];
  const repository = name.replace(/:[\w.-]+$/, "");
  const [, , digest] = digests.find(([, owner]) => owner === repository) ?? digests[0] ?? [];
  if (digest === undefined)
    throw new HostError("usage", `the image ${name} was built on this machine: it has no digest to pin`, {
      serverName: server,
      next: "Images that come from a registry have one.",
    });
  return { name: `${name}@${digest}` };
}
