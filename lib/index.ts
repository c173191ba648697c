export type {
  ActionHandler,
  AgentDefinition,
  AgentLimits,
  BuiltInAction,
} from './agents/agent-definition.ts';
export type { AgentKind, AgentOf, AgentRef, PersistenceContext } from './agents/agent-kind.ts';
export { defineAgent } from './agents/define-agent.ts';
export { InvalidDefinitionError } from './agents/invalid-definition-error.ts';
export type { Clock } from './clock.ts';
export { type DynamoDbRunsOptions, dynamoDbRuns } from './dynamodb/dynamodb-runs.ts';
export { type DynamoDbStoreOptions, dynamoDbStore } from './dynamodb/dynamodb-store.ts';
export { type DynamoDbStoresOptions, dynamoDbStores } from './dynamodb/dynamodb-stores.ts';
export * from './errors.ts';
export * from './errors.ts';
export { DormouseError } from './errors.ts';
export {
  type DeadLetter,
  type InMemoryRunQueue,
  type InMemoryRunQueueOptions,
  inMemoryRunQueue,
} from './in-memory/run-queue.ts';
export { inMemoryRuns } from './in-memory/runs.ts';
export { memoryStore } from './in-memory/snapshot-store.ts';
export { inMemoryStores } from './in-memory/stores.ts';
export type { ChatOptions } from './lifecycle/chat-options.ts';
export {
  type CompactionOptions,
  type CompactionResult,
  type CompactionWindow,
  compactMemory,
  EmptySummaryError,
  type Summarize,
} from './lifecycle/compact-memory.ts';
export { cancelled, failed, JobOutcomeError, JobTimeoutError } from './lifecycle/job-outcome.ts';
export { jobError, jobOk } from './lifecycle/jobs.ts';
export type { JobError, LifecycleJob } from './lifecycle/lifecycle-job.ts';
export { pruneCapsules, pruneRawMemory, pruneSessions } from './lifecycle/prune.ts';
export { ErrorLogUnavailableError, eachSessionJob, runSessionJob } from './lifecycle/run-session-job.ts';
export { type Secrets, SecretUnavailableError } from './lifecycle/secrets.ts';
export type {
  JobLogger,
  SessionJobContext,
  SessionJobHandler,
  SessionJobOptions,
} from './lifecycle/session-job.ts';
export { compactionCutoff, compactStaleSessions, isStale } from './lifecycle/stale.ts';
export type {
  AgentMemory,
  CapsuleOptions,
  CapsulePage,
  ExportedMemory,
  ExportedPart,
  Forgotten,
  MessagePage,
  MessageSelection,
  NewCapsule,
  RecentQuery,
} from './memory/agent-memory.ts';
export { createMemory, type MemoryOptions } from './memory/create-memory.ts';
export type * from './memory/memory-store.ts';
export type { Capsule, Message, NewMessage } from './memory/message.ts';
export type { RetentionPolicy } from './memory/retention.ts';
export { DEFAULT_RETENTION, selectPolicy } from './memory/retention.ts';
export type { Timestamp } from './memory/timestamp.ts';
export {
  type AgentHandle,
  type AgentHandles,
  type AgentInstance,
  agentHandle,
  agentHandles,
} from './persistence/agent-handle.ts';
export { dumpAgent, loadAgent } from './persistence/callbacks.ts';
export { fileStore } from './persistence/file-store.ts';
export { type ForgetOptions, type ForgetResult, forget } from './persistence/forget.ts';
export {
  type Hibernated,
  type HibernateOptions,
  type HibernateResult,
  hibernate,
} from './persistence/hibernate.ts';
export { orThrow } from './persistence/or-throw.ts';
export type { PersistenceConfig } from './persistence/persistence-config.ts';
export type { PersistenceFailure } from './persistence/persistence-result.ts';
export type * from './persistence/snapshot-store.ts';
export { type KeyConfig, makeStoreKey } from './persistence/store-key.ts';
export type { StoreOptions } from './persistence/store-options.ts';
export { type Thawed, type ThawResult, thaw } from './persistence/thaw.ts';
export {
  type Change,
  type UpdateOptions,
  type UpdateResult,
  updateAgent,
} from './persistence/update-agent.ts';
export { abandonShard } from './runs/abandon-shard.ts';
export { currentTotals } from './runs/current-totals.ts';
export { resumeRuns } from './runs/resume-runs.ts';
export type * from './runs/run.ts';
export { type AgentLookup, type RunEngine, type RunEngineOptions, runEngine } from './runs/run-engine.ts';
export * from './runs/run-error.ts';
export type { RunLease, RunLeases } from './runs/run-leases.ts';
export { formatRunMessage, parseRunMessage, type RunMessage } from './runs/run-message.ts';
export type { RunQueue } from './runs/run-queue.ts';
export type * from './runs/run-store.ts';
export { type RunRequest, type StartedRun, startRun } from './runs/start-run.ts';
export { type ShardOutcome, type ShardWork, type WorkOptions, workShard } from './runs/work-shard.ts';
export type { AgentRuntime, Paging } from './runtime/agent-runtime.ts';
export { createRuntime, type RuntimeOptions, type RuntimeStores } from './runtime/create-runtime.ts';
export { describeSchedule } from './schedules/describe-schedule.ts';
export { InvalidScheduleError, type ScheduleField } from './schedules/invalid-schedule-error.ts';
export { nextFireTimes } from './schedules/next-fire-times.ts';
export { type ScheduleDescriptor, scheduleDescriptor } from './schedules/schedule-descriptor.ts';
export { type EventBridgeSchedule, toEventBridge } from './schedules/to-event-bridge.ts';
export type { Counters } from './sessions/counters.ts';
export type * from './sessions/error-log.ts';
export type { Identity, Session } from './sessions/session.ts';
export type * from './sessions/session-store.ts';
export { type SqsRunQueueOptions, sqsRunQueue } from './sqs/sqs-run-queue.ts';
export { type WebhookOptions, webhook } from './webhooks/webhook.ts';
