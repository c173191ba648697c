import { createHmac, randomBytes } from 'node:crypto';
import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import { environment } from '../lib/environment.ts';
import type { JobLogger } from '../lib/lifecycle/session-job.ts';
import { loggableThrown } from './loggable.ts';
import { once } from './once.ts';
import { agentOfScope, tenantOfScope } from './tenancy.ts';

let made: Logger | undefined;

/** The process's one log, so that every line of an invocation, the engine's too, bears its id. */
export function serviceLog(context?: Context): Logger {
  made ??= new Logger({ serviceName: 'dormouse' });
  if (context) made.addContext(context);
  return made;
}

/**
 * Keys, sessions and tenants may name people: the log has enough of a hash to follow one, not the name. Names can be
 * guessed, so the hash is keyed: whoever reads the log but does not know the deployment's key can test no guess.
 */
export function hashOf(name: string | undefined): string | undefined {
  return name === undefined
    ? undefined
    : createHmac('sha256', logKey()).update(name).digest('hex').slice(0, 16);
}

/** Outside of a deployment a key of the process's own: what it prints need not be followed for longer. */
const logKey = once(() => process.env[environment.logKey] || randomBytes(32));

/** What a log line says of a scope: the agent, and of its tenant the hash. */
export function loggableScope(scope: string): Record<string, unknown> {
  return { agent: agentOfScope(scope), tenantHash: hashOf(tenantOfScope(scope)) };
}

/** The log as the engine, and the handlers of actions, write to it. */
export function jobLog(): JobLogger {
  return {
    info: (message, details) => serviceLog().info(message, shown(details)),
    warn: (message, details) => serviceLog().warn(message, shown(details)),
    error: (message, details) => serviceLog().error(message, shown(details)),
  };
}

function shown(details: Readonly<Record<string, unknown>> = {}) {
  const { agent, sessionId, thrown, ...others } = details;
  return {
    ...(typeof agent === 'string' && loggableScope(agent)),
    ...(typeof sessionId === 'string' && { sessionHash: hashOf(sessionId) }),
    ...('thrown' in details && loggableThrown(thrown)),
    ...others,
  };
}
