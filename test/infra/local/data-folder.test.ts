import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { ClassicLevel } from 'classic-level';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type EmbeddedDynamoDb, openEmbeddedDynamoDb } from '../../../infra/local/embedded-dynamodb.ts';
import { sessionsTable } from '../../../lib/dynamodb/tables.ts';
import { runToEnd, startUntilReady, temporaryFolder } from './local-process.ts';

/** All of them take minutes: a few unless asked for. */
const isAll = process.env.DORMOUSE_DAMAGES === 'all';
const flips = isAll ? 20 : 2;
const items = 40;

const opened: EmbeddedDynamoDb[] = [];
const lines = vi.spyOn(console, 'error').mockImplementation(() => {});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
  lines.mockClear();
});

async function open(folder: string, { repair = false } = {}): Promise<EmbeddedDynamoDb> {
  const database = await openEmbeddedDynamoDb(folder, [sessionsTable], { repair });
  opened.push(database);
  return database;
}

async function close(database: EmbeddedDynamoDb): Promise<void> {
  opened.splice(opened.indexOf(database), 1);
  await database.close();
}

async function put({ client, tableName }: EmbeddedDynamoDb, sk: string, text: string): Promise<void> {
  const Item = { pk: { S: 'p' }, sk: { S: sk }, place: { S: text }, text: { S: `${text} `.repeat(50) } };
  await client.send(new PutItemCommand({ TableName: tableName(sessionsTable), Item }));
}

/** The rows of the table, and of its index. */
async function rowsOf({ client, tableName }: EmbeddedDynamoDb): Promise<string[][]> {
  const scan = async (IndexName?: string) => {
    const command = new ScanCommand({ TableName: tableName(sessionsTable), IndexName });
    const { Items = [] } = await client.send(command);
    return Items.map(({ sk, text }) => `${sk?.S} ${text?.S}`).sort();
  };
  return [await scan(), await scan('byPlace')];
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}

/** What LevelDB logs and locks is not of the database. */
function contentsOf(folder: string): Map<string, string> {
  const files = filesIn(folder).filter((name) => !/LO(CK|G|G\.old)$/.test(name));
  return new Map(files.sort().map((name) => [name, readFileSync(join(folder, name), 'base64')]));
}

type Damage = readonly [name: string, apply: (path: string) => void];
const sizeOf = (path: string) => readFileSync(path).length;
const damages: readonly Damage[] = [
  ['is deleted', (path) => rmSync(path)],
  ['is emptied', (path) => truncateSync(path)],
  ['is cut to half', (path) => truncateSync(path, sizeOf(path) >> 1)],
  ['is cut by 3 bytes', (path) => truncateSync(path, Math.max(0, sizeOf(path) - 3))],
  ...Array.from({ length: flips }, (_, index): Damage => {
    const at = index / Math.max(1, flips - 1);
    return [
      `has a bit changed at ${at.toFixed(2)} of it`,
      (path) => {
        const bytes = readFileSync(path);
        const place = Math.round((bytes.length - 1) * at);
        if (bytes.length > 0) bytes[place] = (bytes[place] as number) ^ 4;
        writeFileSync(path, bytes);
      },
    ];
  }),
];

describe('a data folder', () => {
  let closed: string;
  let killed: string;
  let written: string[][];
  const made = mkdtempSync(join(tmpdir(), 'dormouse-damages-'));

  beforeAll(async () => {
    closed = join(made, 'closed');
    killed = join(made, 'killed');
    // Each start makes a table of the log of the one before.
    for (const round of ['old', 'new', 'newest']) {
      const database = await open(closed);
      for (let index = 0; index < items; index++) await put(database, `s${index}`, `${round}-${index}`);
      // What a process leaves that is killed: nothing is under way, and all of it is with the operating system.
      if (round === 'newest') cpSync(closed, killed, { recursive: true });
      written = await rowsOf(database);
      await close(database);
    }
    return () => rmSync(made, { recursive: true });
  });

  it.each(['closed', 'killed'] as const)(
    'that was %s either has all that was acknowledged after a damage, or says what is wrong and stays as it is',
    async (ending) => {
      const source = ending === 'closed' ? closed : killed;
      const folder = join(temporaryFolder(), 'data');
      const outcomes = new Map<string, string>();
      for (const file of filesIn(source)) {
        // Of what is no data one damage is as good as another.
        for (const [name, apply] of /LO(CK|G|G\.old)$/.test(file) ? damages.slice(0, 1) : damages) {
          rmSync(folder, { recursive: true, force: true });
          cpSync(source, folder, { recursive: true });
          apply(join(folder, file));
          const before = contentsOf(folder);

          const database = await open(folder).catch((error: Error) => error);
          if (database instanceof Error) {
            expect(database.message).toMatch(/^the data folder [^\n]+ is damaged[^\n]+--repair[^\n]+$/);
            expect(database.message).toContain(folder);
            expect(contentsOf(folder)).toEqual(before);
          } else {
            expect(await rowsOf(database), `${file} ${name}`).toEqual(written);
            await close(database);
          }
          outcomes.set(`${file} ${name}`, database instanceof Error ? 'damaged' : 'whole');
        }
      }
      const whole = [...outcomes].filter(([, outcome]) => outcome === 'whole').map(([name]) => name);
      // The log of a closed database is empty; a table's footer is padded, and an old one holds what was replaced since.
      for (const name of whole)
        expect(name).toMatch(ending === 'closed' ? /LO|\.log|\.ldb has/ : /LO|\.ldb has/);
    },
    60_000 * flips,
  );

  it(
    'that is damaged is repaired on request: the damaged files stay, and what can be read is consistent',
    async () => {
      const folder = join(temporaryFolder(), 'data');
      for (const [file] of contentsOf(killed)) {
        for (const [, apply] of isAll ? damages : damages.slice(2, 3)) {
          rmSync(folder, { recursive: true, force: true });
          cpSync(killed, folder, { recursive: true });
          apply(join(folder, file));
          lines.mockClear();

          const database = await open(folder, { repair: true });
          const [rows, indexed] = await rowsOf(database);
          await put(database, 'after', 'x');
          await close(database);
          const again = await open(folder);

          expect(indexed).toEqual(rows);
          expect((await rowsOf(again))[0]).toContain(`after ${'x '.repeat(50)}`);
          await close(again);
          const isReported = lines.mock.calls.some(([line]) => /is repaired: \d+ entries/.test(line));
          const copies = readdirSync(folder).filter((name) => name.includes('.damaged-'));
          expect(copies).toHaveLength(isReported ? 1 : 0);
        }
      }
    },
    60_000 * flips,
  );

  it('that an earlier version wrote is opened, mended where a kill parted an item and its index entry, and marked', async () => {
    const folder = join(temporaryFolder(), 'data');
    cpSync(killed, folder, { recursive: true });
    rmSync(join(folder, 'dynamodb-writes'));
    const database = new ClassicLevel(join(folder, 'dynamodb'));
    await database.del('dormouse~written');
    const [[item = ''] = []] = [await database.keys({ gte: 'item-dormouse-sessions~', limit: 1 }).all()];
    const entries = await database.keys({ gte: 'index-local~dormouse-sessions~', limit: 2 }).all();
    await database.del(item);
    await database.del(entries[1] as string);
    await database.close();

    const [rows, indexed] = await rowsOf(await open(folder));
    const said = lines.mock.calls.flat();
    await close(opened[0] as EmbeddedDynamoDb);
    lines.mockClear();
    await open(folder);

    expect(rows).toHaveLength(items - 1);
    expect(indexed).toEqual(rows);
    expect(said).toEqual([
      expect.stringContaining('was written by an earlier version'),
      expect.stringMatching(/1 missing index entries were added, and 1 without their item removed/),
    ]);
    expect(lines).not.toHaveBeenCalled();
  });

  it('in which a process was killed as it wrote a table, or as it opened the database, is whole', async () => {
    const folder = join(temporaryFolder(), 'data');
    cpSync(killed, folder, { recursive: true });
    writeFileSync(join(folder, 'dynamodb', '000999.ldb'), 'half a table');
    cpSync(join(folder, 'dynamodb'), join(folder, 'dynamodb.kept-abc'), { recursive: true });

    const database = await open(folder);

    expect(await rowsOf(database)).toEqual(written);
    expect(readdirSync(folder).sort()).toEqual(['dynamodb', 'dynamodb-writes']);
  });

  it('that is damaged ends npm start with one line and exit code 1', async () => {
    const folder = join(temporaryFolder(), 'data');
    cpSync(killed, folder, { recursive: true });
    rmSync(join(folder, 'dynamodb', 'CURRENT'));

    const { code, stderr } = await runToEnd('--port', '0', '--data', folder);
    const repaired = await startUntilReady('--data', folder, '--repair');

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^dormouse: the data folder [^\n]+CURRENT is missing[^\n]+\n$/),
    });
    expect((await fetch(`${repaired.url}/_local/health`)).status).toBe(200);
  });
});
