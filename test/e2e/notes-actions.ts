import { type ActionHandler, failed, orThrow } from 'dormouse';

export default {
  'take-notes': async (_session, { memory, secret, instance, signal }) => {
    const { items } = await memory().recent({ hours: 24 });
    if (items.length === 0) return null;
    const key = await secret('MODEL_KEY');
    const response = await fetch(`${process.env.MODEL_URL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: process.env.MODEL,
        messages: [{ role: 'user', content: `What is worth knowing of this? ${JSON.stringify(items)}` }],
      }),
      signal,
    });
    if (!response.ok) return failed(`the model answered ${response.status}`);
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
    const notes = choices[0]?.message.content;
    // The agent is thawed, changed and saved; where somebody else saved it meanwhile, with the newer state once more.
    return orThrow(await instance().update((agent) => ({ ...agent, notes }))).version;
  },
} satisfies Record<string, ActionHandler>;
