import { seededRandom } from '../../support/seeded-random.ts';
import { paddingOf } from '../faulty-writers.ts';
import type { Message } from './history.ts';

export const begin = Date.parse('2027-01-01T00:00:00Z');
export const slotMs = 1_000;
export const slots = 3;
/** Every third message and capsule does not fit into one item. */
const sizes = [10, 900, 10] as const;

/** Of what is sent under an id: known by the id, so that it is the same whoever sends it. */
export function sourceOf(id: string): string | undefined {
  return [undefined, 'doc-a', 'doc-b'][numberOf(id) % 3];
}

const numberOf = (id: string) => Number(id.replace(/\D/g, ''));
const paddingFor = (text: string, length: number) =>
  paddingOf(
    seededRandom([...text].reduce((sum, char) => sum * 31 + char.charCodeAt(0), 7) % 1_000_003),
    length,
  );
/** What is sent and stored of a content: large where its number says so. */
export const contentOf = (content: string) => ({
  content,
  pad: paddingFor(content, sizes[numberOf(content) % 3] ?? 0),
});

/** The summary of a capsule of this name. */
export const summaryOf = (name: string) => ({ name, pad: paddingFor(name, sizes[numberOf(name) % 3] ?? 0) });

/** Messages of the ids that all writers of a session use, or of some that only this call does. */
export function chooseMessages(call: string, random: () => number): Message[] {
  const shared = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5'];
  const own = [1, 2, 3].map((nth) => `${call}n${nth}`);
  const pool = random() < 0.5 ? shared : own;
  const count = random() < 0.5 ? 1 : 2 + Math.floor(random() * 3);
  const from = Math.floor(random() * pool.length);
  const ids = new Set(Array.from({ length: count }, (_, nth) => pool[(from + nth) % pool.length] ?? 'm0'));
  return [...ids].map((id) => {
    const slot = (numberOf(id) % slots) + (random() < 0.1 ? 1 : 0);
    return { id, content: `${id}.${random() < 0.85 ? 'a' : 'b'}`, at: begin + slot * slotMs };
  });
}
