import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const COMPACTS = false;
const COMPACT_MS = 60_000;

/** @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi */
export default function ctxsift(pi) {
  pi.on("tool_result", async (event, context) => {
    try {
      // With a parent, a script (code mode) reads the result, not the model.
      if (event.toolName !== "bash" || event.parentToolCallId || event.content.length !== 1) return undefined;
      const { toolName, input, content, details, isError } = event;
      const [part] = content;
      if (part.type !== "text" || Buffer.byteLength(part.text) < SHORTEST_BYTES) return undefined;
      const told = { tool_name: toolName, tool_input: input, tool_response: { content, details, isError } };
      const text = textOf(await ask(["hook", "pi"], JSON.stringify(told), HOOK_MS, context.signal));
      return text === undefined ? undefined : { content: [{ type: "text", text }] };
    } catch {
      return undefined;
    }
  });

  if (!COMPACTS) return;
  pi.on("session_before_compact", async (event, context) => {
    let folder = "";
    try {
      const { firstKeptEntryId, tokensBefore } = event.preparation;
      // Rules cannot follow instructions.
      if (event.customInstructions) return undefined;
      const until = event.branchEntries.findIndex((entry) => entry.id === firstKeptEntryId);
      // `ctxsift compact` always keeps the last step as it is: here the first one that Pi keeps.
      const kept = event.branchEntries[until];
      if (kept?.type !== "message" || !["user", "assistant"].includes(kept.message.role)) return undefined;
      folder = await mkdtemp(join(tmpdir(), "ctxsift-"));
      const file = join(folder, "session.jsonl");
      const records = [context.sessionManager.getHeader(), ...event.branchEntries.slice(0, until + 1)];
      await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""), { mode: 0o600 });
      const made = await ask(["compact", file, "--keep-last", "1", "--json"], "", COMPACT_MS, event.signal);
      const { cycles, summary } = JSON.parse(made ?? "");
      const isWhole = cycles.every((/** @type {any} */ cycle) => !cycle.refused && !cycle.fallback);
      if (!summary.trim() || !isWhole) return undefined;
      return { compaction: { summary, firstKeptEntryId, tokensBefore } };
    } catch {
      return undefined;
    } finally {
      if (folder) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  });
}
