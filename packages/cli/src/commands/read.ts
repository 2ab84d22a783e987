/** `fairlead read`: prints or saves the contents of a resource. */

import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { defineArgOption, type NamedValue } from "../arguments/named-values.ts";
import { defineImageOption, imageDrawing } from "../output/reports/inline-image.ts";
import { createProgressLine } from "../output/reports/progress.ts";
import { reportReading } from "../output/reports/result-reports.ts";
import { configurationOf } from "../shell/configuration.ts";
import { openSavePlace } from "../shell/save-media.ts";
import { confirmTypedRequest } from "../shell/typed-confirmation.ts";
import type { Verb } from "../shell/verb.ts";
import { defineAdHocOptions, isAddress, openAdHoc } from "../targets/ad-hoc.ts";
import { findReadable } from "../targets/find-readable.ts";
import { connectServer } from "../targets/look-up.ts";
import { useHost } from "../targets/with-host.ts";

interface Options {
  readonly server?: string;
  readonly arg?: readonly NamedValue[];
  readonly save?: string;
  readonly yes?: boolean;
}

export const verb: Verb = {
  help: `
How to write a resource (the @ is optional):
  @notes://today         the resource notes://today of the server "notes", or its
                         only resource whose URI ends with ://today
  notes:file:///x.txt    the resource file:///x.txt of the server "notes"
  file:///x.txt          this URI, if exactly one server has it
  'notes://{day}'        a template, with --arg day=monday

Connects to the resource's server, and to servers without a cached catalog only if
one of them could have the resource. Prints text to stdout and describes binary
contents. --save writes into the folder if the path is one or ends with /,
else to a new file. It never overwrites a file.

Examples:
  fairlead read demo://about
  fairlead read @demo://picture --save .
  fairlead read 'demo://knots/{name}' --arg name=bowline
  fairlead read --server demo demo://knots/reef-knot --json`,

  define(command) {
    command
      .argument("<resource>", "@server://path, server:uri, a URI, or a template")
      .option("--server <server>", "the server's name or URL; its URIs are then used exactly as written")
      .option("--save <path>", "save into this folder, or as this new file")
      .option("--yes", "confirm this read in advance; deny rules still apply");
    defineArgOption(command, "a value for a variable of a template (repeatable)");
    defineImageOption(command);
    defineAdHocOptions(command);
  },

  async run(context) {
    const { server, arg: values = [], save, yes: isYes = false } = context.command.opts<Options>();
    const { io, globals } = context;
    const [word = ""] = context.operands;
    const configured = await configurationOf(context);
    const typed = await openAdHoc(isAddress(server) ? server : undefined, configured, context);
    await useHost(typed?.configuration ?? configured, context, async (host) => {
      const address = await findReadable({ word, server: typed?.name ?? server, values }, host, context);
      const place = save === undefined ? undefined : await openSavePlace(save, io.cwd);
      await connectServer(address.server, host, context);
      await typed?.keep();
      const { server: owner, uri } = address;
      const { options, withAdvice } = await confirmTypedRequest({ kind: "resource", title: uri, isYes }, host, context);
      const progress = createProgressLine(safe`${toSafeLine(uri)}`, io, globals);
      const reading = host.readResource(owner, uri, { signal: io.signal, ...options });
      const result = await withAdvice(reading).finally(progress.clear);
      await reportReading({ address, result, place, draw: imageDrawing(context) }, context);
    });
  },
};
