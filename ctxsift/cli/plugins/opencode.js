/** @type {import("@opencode-ai/plugin").Plugin} */
export const CtxSift = async () => ({
  "tool.execute.after": async (input, result) => {
    try {
      if (input.tool !== "bash" || Buffer.byteLength(result.output) < SHORTEST_BYTES) return;
      const { output, metadata } = result;
      const told = { tool_name: input.tool, tool_input: input.args, tool_response: { output, metadata } };
      const text = textOf(await ask(["hook", "opencode"], JSON.stringify(told), HOOK_MS));
      if (text !== undefined) result.output = text;
    } catch {
      // The result stays as it is.
    }
  },
});
