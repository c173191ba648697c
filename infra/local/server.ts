import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import agentDefinitions from '#agents';
import type { Services } from '../../functions/services.ts';
import type { AgentDefinition } from '../../lib/agents/agent-definition.ts';
import { indexAgents } from '../../lib/agents/define-agent.ts';
import { dynamoDbRuns } from '../../lib/dynamodb/dynamodb-runs.ts';
import { dynamoDbStore } from '../../lib/dynamodb/dynamodb-store.ts';
import { dynamoDbStores } from '../../lib/dynamodb/dynamodb-stores.ts';
import { errorsTable, runsTable, sessionsTable, snapshotsTable } from '../../lib/dynamodb/tables.ts';
import type { RunQueue } from '../../lib/runs/run-queue.ts';
import { answerAsProblems, inTurn } from './connections.ts';
import type { DeveloperLog } from './developer-log.ts';
import { type EmbeddedDynamoDb, openEmbeddedDynamoDb } from './embedded-dynamodb.ts';
import { startExpiry } from './expired-rows.ts';
import { fireOver } from './fire-schedule.ts';
import { handlersOver, serve } from './gateway.ts';
import { isLocal, localRoutes } from './local-routes.ts';
import { ownTarget, urlOf } from './own-requests.ts';
import { resumeCutOffRuns } from './resume.ts';
import { runPump } from './run-pump.ts';
import type { StageSettings } from './stage.ts';
import { startTicker } from './ticker.ts';

export interface LocalServerOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** The address to listen on: 127.0.0.1 unless given, so that nobody else reaches it. */
  readonly host?: string | undefined;
  /** The folder to keep state in; without it, in memory. */
  readonly data?: string | undefined;
  /** Whether that folder is repaired if it is damaged, as far as that goes. */
  readonly repair?: boolean | undefined;
  /** In place of functions/agents.ts. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  readonly quiet?: boolean | undefined;
  /** Those of a stage; without them, nobody is asked who they are. */
  readonly settings?: StageSettings | undefined;
  /** What actions write, and what they throw, goes there: nowhere unless given. */
  readonly log?: DeveloperLog | undefined;
  /** Whether schedules fire at their times: not unless asked for. They can be fired over HTTP in any case. */
  readonly schedules?: boolean | undefined;
  /** How long a message of a run waits after it failed. */
  readonly redeliveryMs?: number | undefined;
}

export interface LocalServer {
  readonly url: string;
  /** The client through which the handlers reach the embedded DynamoDB. */
  readonly dynamoDb: DynamoDBClient;
  /**
   * Requests under way are answered first, and sessions of a run that were begun come to their ends; the rest of the run
   * goes on at the next start. Closing again waits for the same end.
   */
  close(): Promise<void>;
}

/** A request or a handler that hangs does not keep the server from ending. */
const closingMaxMs = 10_000;

const keepAliveMs = 75_000;

/**
 * Serves the HTTP API with the handlers of functions/ over an embedded DynamoDB, and works on runs with
 * them: those that are started, and those that the last end of the server cut off.
 *
 * @example
 * const server = await startLocalServer({ port: 0, quiet: true });
 * await fetch(`${server.url}/v1/agents`);
 * await server.close();
 */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const { port, host = '127.0.0.1', data, agents = agentDefinitions, quiet = false } = options;
  const { repair, schedules = false, redeliveryMs } = options;
  logAs(quiet);
  const log = quiet ? () => {} : (line: string) => console.log(line);
  const definitions = indexAgents(agents);
  const database = await openEmbeddedDynamoDb(data, undefined, { repair });
  const pump = runPump({ redeliveryMs });
  const services = createLocalServices(definitions, database, pump.queue, options);
  const fire = fireOver(services);
  const local = localRoutes({ agents: definitions, deadLetters: pump.queue.deadLetters, fire });
  const api = handlersOver(services, options.settings?.jwt);

  let closed: Promise<void> | undefined;
  const serveOwn = inTurn((request, response) =>
    serve(request, response, (own, requestId) => {
      own.url = ownTarget(own, { host, port: portOf(server) });
      return (isLocal(own.url) ? local : api)(own, requestId);
    }),
  );
  // A missing Host is for `ownTarget` to refuse.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    response.on('close', () => {
      if (closed !== undefined) server.closeIdleConnections();
    });
    if (!quiet && request.url !== '/_local/health') logWhenAnswered(request, response);
    void serveOwn(request, response);
  });
  answerAsProblems(server);
  // Longer than clients keep a connection, and than a large body keeps this process: one that is reused is still open.
  server.keepAliveTimeout = keepAliveMs;
  try {
    await resumeCutOffRuns(services, log);
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    await database.close();
    throw error;
  }
  pump.start(services);
  const expiry = startExpiry(database);
  const ticker = schedules ? startTicker({ agents: definitions.values(), fire, log }) : undefined;

  const close = async () => {
    ticker?.close();
    await Promise.all([closeServer(server), pump.close(closingMaxMs), expiry.close()]);
    await database.close();
  };
  return {
    url: urlOf({ host, port: portOf(server) }),
    dynamoDb: database.client,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function closeServer(server: Server): Promise<void> {
  const giveUp = setTimeout(() => server.closeAllConnections(), closingMaxMs);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(giveUp);
}

function createLocalServices(
  agents: ReadonlyMap<string, AgentDefinition>,
  { client, tableName }: EmbeddedDynamoDb,
  queue: RunQueue,
  { log: logger, settings }: Pick<LocalServerOptions, 'log' | 'settings'>,
): Services {
  return {
    agents,
    strictAgents: settings?.strictAgents ?? false,
    overlap: settings?.overlap,
    showStacks: settings?.showStacks,
    logger,
    onRequestFailed: (error) => logger?.requestFailed(error),
    tenantClaim: settings?.jwt?.tenantClaim,
    store: dynamoDbStore({ client, tableName: tableName(snapshotsTable) }),
    stores: dynamoDbStores({
      client,
      sessionsTable: tableName(sessionsTable),
      errorsTable: tableName(errorsTable),
    }),
    lifecycle: { ...dynamoDbRuns({ client, runsTable: tableName(runsTable) }), queue },
  };
}

/** The handlers' own log lines only where something is wrong: one line per request says the rest. */
function logAs(quiet: boolean): void {
  process.env.POWERTOOLS_LOG_LEVEL ??= quiet ? 'SILENT' : 'ERROR';
  process.env.POWERTOOLS_METRICS_DISABLED ??= 'true';
}

function logWhenAnswered({ method, url }: IncomingMessage, response: ServerResponse): void {
  const startedAt = performance.now();
  response.on('close', () => {
    const ms = Math.round(performance.now() - startedAt);
    console.log(`${method} ${url} ${response.writableFinished ? response.statusCode : 'aborted'} ${ms} ms`);
  });
}
