"""The messages of MCP revision 2025-11-25 as typed dictionaries, with the names of the official schema.

Type checkers read them. A dictionary literal is checked against its type:

    result: CallToolResult = {"content": []}

A type names the members that the schema names. A message with further members, such as an own key of `_meta`, requires
`typing.cast`. Written by `python -m tools.message_types`.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Annotations(TypedDict):
    """The definition `Annotations`."""

    audience: NotRequired[list[Role]]
    lastModified: NotRequired[str]
    priority: NotRequired[float]


class AudioContent(TypedDict):
    """The definition `AudioContent`."""

    _meta: NotRequired[dict[str, Any]]
    annotations: NotRequired[Annotations]
    data: str
    mimeType: str
    type: Literal["audio"]


class BaseMetadata(TypedDict):
    """The definition `BaseMetadata`."""

    name: str
    title: NotRequired[str]


class BlobResourceContents(TypedDict):
    """The definition `BlobResourceContents`."""

    _meta: NotRequired[dict[str, Any]]
    blob: str
    mimeType: NotRequired[str]
    uri: str


class BooleanSchema(TypedDict):
    """The definition `BooleanSchema`."""

    default: NotRequired[bool]
    description: NotRequired[str]
    title: NotRequired[str]
    type: Literal["boolean"]


class CallToolRequest(TypedDict):
    """The request `tools/call`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["tools/call"]
    params: CallToolRequestParams


class CallToolRequestParams(TypedDict):
    """The parameters of `tools/call`."""

    _meta: NotRequired[dict[str, Any]]
    arguments: NotRequired[dict[str, Any]]
    name: str
    task: NotRequired[TaskMetadata]


class CallToolResult(TypedDict):
    """The result of `tools/call`."""

    _meta: NotRequired[dict[str, Any]]
    content: list[ContentBlock]
    isError: NotRequired[bool]
    structuredContent: NotRequired[dict[str, Any]]


class CancelTaskRequestParams(TypedDict):
    """The member `params` of `CancelTaskRequest`."""

    taskId: str


class CancelTaskRequest(TypedDict):
    """The request `tasks/cancel`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["tasks/cancel"]
    params: CancelTaskRequestParams


class CancelTaskResult(TypedDict):
    """The result of `tasks/cancel`."""

    _meta: NotRequired[dict[str, Any]]
    createdAt: str
    lastUpdatedAt: str
    pollInterval: NotRequired[int]
    status: TaskStatus
    statusMessage: NotRequired[str]
    taskId: str
    ttl: int | None


class CancelledNotification(TypedDict):
    """The notification `notifications/cancelled`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/cancelled"]
    params: CancelledNotificationParams


class CancelledNotificationParams(TypedDict):
    """The parameters of `notifications/cancelled`."""

    _meta: NotRequired[dict[str, Any]]
    reason: NotRequired[str]
    requestId: NotRequired[RequestId]


class ClientCapabilitiesElicitation(TypedDict):
    """The member `elicitation` of `ClientCapabilities`."""

    form: NotRequired[dict[str, Any]]
    url: NotRequired[dict[str, Any]]


class ClientCapabilitiesRoots(TypedDict):
    """The member `roots` of `ClientCapabilities`."""

    listChanged: NotRequired[bool]


class ClientCapabilitiesSampling(TypedDict):
    """The member `sampling` of `ClientCapabilities`."""

    context: NotRequired[dict[str, Any]]
    tools: NotRequired[dict[str, Any]]


class ClientCapabilitiesTasksRequestsElicitation(TypedDict):
    """The member `elicitation` of `ClientCapabilitiesTasksRequests`."""

    create: NotRequired[dict[str, Any]]


class ClientCapabilitiesTasksRequestsSampling(TypedDict):
    """The member `sampling` of `ClientCapabilitiesTasksRequests`."""

    createMessage: NotRequired[dict[str, Any]]


class ClientCapabilitiesTasksRequests(TypedDict):
    """The member `requests` of `ClientCapabilitiesTasks`."""

    elicitation: NotRequired[ClientCapabilitiesTasksRequestsElicitation]
    sampling: NotRequired[ClientCapabilitiesTasksRequestsSampling]


class ClientCapabilitiesTasks(TypedDict):
    """The member `tasks` of `ClientCapabilities`."""

    cancel: NotRequired[dict[str, Any]]
    list: NotRequired[dict[str, Any]]
    requests: NotRequired[ClientCapabilitiesTasksRequests]


class ClientCapabilities(TypedDict):
    """The definition `ClientCapabilities`."""

    elicitation: NotRequired[ClientCapabilitiesElicitation]
    experimental: NotRequired[dict[str, dict[str, Any]]]
    roots: NotRequired[ClientCapabilitiesRoots]
    sampling: NotRequired[ClientCapabilitiesSampling]
    tasks: NotRequired[ClientCapabilitiesTasks]


class CompleteRequest(TypedDict):
    """The request `completion/complete`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["completion/complete"]
    params: CompleteRequestParams


class CompleteRequestParamsArgument(TypedDict):
    """The member `argument` of `CompleteRequestParams`."""

    name: str
    value: str


class CompleteRequestParamsContext(TypedDict):
    """The member `context` of `CompleteRequestParams`."""

    arguments: NotRequired[dict[str, str]]


class CompleteRequestParams(TypedDict):
    """The parameters of `completion/complete`."""

    _meta: NotRequired[dict[str, Any]]
    argument: CompleteRequestParamsArgument
    context: NotRequired[CompleteRequestParamsContext]
    ref: PromptReference | ResourceTemplateReference


class CompleteResultCompletion(TypedDict):
    """The member `completion` of `CompleteResult`."""

    hasMore: NotRequired[bool]
    total: NotRequired[int]
    values: list[str]


class CompleteResult(TypedDict):
    """The result of `completion/complete`."""

    _meta: NotRequired[dict[str, Any]]
    completion: CompleteResultCompletion


class CreateMessageRequest(TypedDict):
    """The request `sampling/createMessage`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["sampling/createMessage"]
    params: CreateMessageRequestParams


class CreateMessageRequestParams(TypedDict):
    """The parameters of `sampling/createMessage`."""

    _meta: NotRequired[dict[str, Any]]
    includeContext: NotRequired[Literal["allServers", "none", "thisServer"]]
    maxTokens: int
    messages: list[SamplingMessage]
    metadata: NotRequired[dict[str, Any]]
    modelPreferences: NotRequired[ModelPreferences]
    stopSequences: NotRequired[list[str]]
    systemPrompt: NotRequired[str]
    task: NotRequired[TaskMetadata]
    temperature: NotRequired[float]
    toolChoice: NotRequired[ToolChoice]
    tools: NotRequired[list[Tool]]


class CreateMessageResult(TypedDict):
    """The result of `sampling/createMessage`."""

    _meta: NotRequired[dict[str, Any]]
    content: (
        TextContent
        | ImageContent
        | AudioContent
        | ToolUseContent
        | ToolResultContent
        | list[SamplingMessageContentBlock]
    )
    model: str
    role: Role
    stopReason: NotRequired[str]


class CreateTaskResult(TypedDict):
    """The definition `CreateTaskResult`."""

    _meta: NotRequired[dict[str, Any]]
    task: Task


class ElicitRequest(TypedDict):
    """The request `elicitation/create`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["elicitation/create"]
    params: ElicitRequestParams


class ElicitRequestFormParams(TypedDict):
    """The definition `ElicitRequestFormParams`."""

    _meta: NotRequired[dict[str, Any]]
    message: str
    mode: NotRequired[Literal["form"]]
    requestedSchema: ElicitRequestFormParamsRequestedSchema
    task: NotRequired[TaskMetadata]


class ElicitRequestURLParams(TypedDict):
    """The definition `ElicitRequestURLParams`."""

    _meta: NotRequired[dict[str, Any]]
    elicitationId: str
    message: str
    mode: Literal["url"]
    task: NotRequired[TaskMetadata]
    url: str


class ElicitResult(TypedDict):
    """The result of `elicitation/create`."""

    _meta: NotRequired[dict[str, Any]]
    action: Literal["accept", "cancel", "decline"]
    content: NotRequired[dict[str, list[str] | str | float | bool]]


class ElicitationCompleteNotificationParams(TypedDict):
    """The member `params` of `ElicitationCompleteNotification`."""

    elicitationId: str


class ElicitationCompleteNotification(TypedDict):
    """The notification `notifications/elicitation/complete`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/elicitation/complete"]
    params: ElicitationCompleteNotificationParams


class EmbeddedResource(TypedDict):
    """The definition `EmbeddedResource`."""

    _meta: NotRequired[dict[str, Any]]
    annotations: NotRequired[Annotations]
    resource: TextResourceContents | BlobResourceContents
    type: Literal["resource"]


class Error(TypedDict):
    """The definition `Error`."""

    code: int
    data: NotRequired[Any]
    message: str


class GetPromptRequest(TypedDict):
    """The request `prompts/get`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["prompts/get"]
    params: GetPromptRequestParams


class GetPromptRequestParams(TypedDict):
    """The parameters of `prompts/get`."""

    _meta: NotRequired[dict[str, Any]]
    arguments: NotRequired[dict[str, str]]
    name: str


class GetPromptResult(TypedDict):
    """The result of `prompts/get`."""

    _meta: NotRequired[dict[str, Any]]
    description: NotRequired[str]
    messages: list[PromptMessage]


class GetTaskPayloadRequestParams(TypedDict):
    """The member `params` of `GetTaskPayloadRequest`."""

    taskId: str


class GetTaskPayloadRequest(TypedDict):
    """The request `tasks/result`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["tasks/result"]
    params: GetTaskPayloadRequestParams


class GetTaskPayloadResult(TypedDict):
    """The result of `tasks/result`."""

    _meta: NotRequired[dict[str, Any]]


class GetTaskRequestParams(TypedDict):
    """The member `params` of `GetTaskRequest`."""

    taskId: str


class GetTaskRequest(TypedDict):
    """The request `tasks/get`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["tasks/get"]
    params: GetTaskRequestParams


class GetTaskResult(TypedDict):
    """The result of `tasks/get`."""

    _meta: NotRequired[dict[str, Any]]
    createdAt: str
    lastUpdatedAt: str
    pollInterval: NotRequired[int]
    status: TaskStatus
    statusMessage: NotRequired[str]
    taskId: str
    ttl: int | None


class Icon(TypedDict):
    """The definition `Icon`."""

    mimeType: NotRequired[str]
    sizes: NotRequired[list[str]]
    src: str
    theme: NotRequired[Literal["dark", "light"]]


class Icons(TypedDict):
    """The definition `Icons`."""

    icons: NotRequired[list[Icon]]


class ImageContent(TypedDict):
    """The definition `ImageContent`."""

    _meta: NotRequired[dict[str, Any]]
    annotations: NotRequired[Annotations]
    data: str
    mimeType: str
    type: Literal["image"]


class Implementation(TypedDict):
    """The definition `Implementation`."""

    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    name: str
    title: NotRequired[str]
    version: str
    websiteUrl: NotRequired[str]


class InitializeRequest(TypedDict):
    """The request `initialize`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["initialize"]
    params: InitializeRequestParams


class InitializeRequestParams(TypedDict):
    """The parameters of `initialize`."""

    _meta: NotRequired[dict[str, Any]]
    capabilities: ClientCapabilities
    clientInfo: Implementation
    protocolVersion: str


class InitializeResult(TypedDict):
    """The result of `initialize`."""

    _meta: NotRequired[dict[str, Any]]
    capabilities: ServerCapabilities
    instructions: NotRequired[str]
    protocolVersion: str
    serverInfo: Implementation


class InitializedNotification(TypedDict):
    """The notification `notifications/initialized`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/initialized"]
    params: NotRequired[NotificationParams]


class JSONRPCErrorResponse(TypedDict):
    """The definition `JSONRPCErrorResponse`."""

    error: Error
    id: NotRequired[RequestId]
    jsonrpc: Literal["2.0"]


class JSONRPCNotification(TypedDict):
    """The definition `JSONRPCNotification`."""

    jsonrpc: Literal["2.0"]
    method: str
    params: NotRequired[dict[str, Any]]


class JSONRPCRequest(TypedDict):
    """The definition `JSONRPCRequest`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: str
    params: NotRequired[dict[str, Any]]


class JSONRPCResultResponse(TypedDict):
    """The definition `JSONRPCResultResponse`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: Result


class LegacyTitledEnumSchema(TypedDict):
    """The definition `LegacyTitledEnumSchema`."""

    default: NotRequired[str]
    description: NotRequired[str]
    enum: list[str]
    enumNames: NotRequired[list[str]]
    title: NotRequired[str]
    type: Literal["string"]


class ListPromptsRequest(TypedDict):
    """The request `prompts/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["prompts/list"]
    params: NotRequired[PaginatedRequestParams]


class ListPromptsResult(TypedDict):
    """The result of `prompts/list`."""

    _meta: NotRequired[dict[str, Any]]
    nextCursor: NotRequired[str]
    prompts: list[Prompt]


class ListResourceTemplatesRequest(TypedDict):
    """The request `resources/templates/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["resources/templates/list"]
    params: NotRequired[PaginatedRequestParams]


class ListResourceTemplatesResult(TypedDict):
    """The result of `resources/templates/list`."""

    _meta: NotRequired[dict[str, Any]]
    nextCursor: NotRequired[str]
    resourceTemplates: list[ResourceTemplate]


class ListResourcesRequest(TypedDict):
    """The request `resources/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["resources/list"]
    params: NotRequired[PaginatedRequestParams]


class ListResourcesResult(TypedDict):
    """The result of `resources/list`."""

    _meta: NotRequired[dict[str, Any]]
    nextCursor: NotRequired[str]
    resources: list[Resource]


class ListRootsRequest(TypedDict):
    """The request `roots/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["roots/list"]
    params: NotRequired[RequestParams]


class ListRootsResult(TypedDict):
    """The result of `roots/list`."""

    _meta: NotRequired[dict[str, Any]]
    roots: list[Root]


class ListTasksRequest(TypedDict):
    """The request `tasks/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["tasks/list"]
    params: NotRequired[PaginatedRequestParams]


class ListTasksResult(TypedDict):
    """The result of `tasks/list`."""

    _meta: NotRequired[dict[str, Any]]
    nextCursor: NotRequired[str]
    tasks: list[Task]


class ListToolsRequest(TypedDict):
    """The request `tools/list`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["tools/list"]
    params: NotRequired[PaginatedRequestParams]


class ListToolsResult(TypedDict):
    """The result of `tools/list`."""

    _meta: NotRequired[dict[str, Any]]
    nextCursor: NotRequired[str]
    tools: list[Tool]


class LoggingMessageNotification(TypedDict):
    """The notification `notifications/message`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/message"]
    params: LoggingMessageNotificationParams


class LoggingMessageNotificationParams(TypedDict):
    """The parameters of `notifications/message`."""

    _meta: NotRequired[dict[str, Any]]
    data: Any
    level: LoggingLevel
    logger: NotRequired[str]


class ModelHint(TypedDict):
    """The definition `ModelHint`."""

    name: NotRequired[str]


class ModelPreferences(TypedDict):
    """The definition `ModelPreferences`."""

    costPriority: NotRequired[float]
    hints: NotRequired[list[ModelHint]]
    intelligencePriority: NotRequired[float]
    speedPriority: NotRequired[float]


class Notification(TypedDict):
    """The definition `Notification`."""

    method: str
    params: NotRequired[dict[str, Any]]


class NotificationParams(TypedDict):
    """The definition `NotificationParams`."""

    _meta: NotRequired[dict[str, Any]]


class NumberSchema(TypedDict):
    """The definition `NumberSchema`."""

    default: NotRequired[float]
    description: NotRequired[str]
    maximum: NotRequired[float]
    minimum: NotRequired[float]
    title: NotRequired[str]
    type: Literal["integer", "number"]


class PaginatedRequest(TypedDict):
    """The definition `PaginatedRequest`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: str
    params: NotRequired[PaginatedRequestParams]


class PaginatedRequestParams(TypedDict):
    """The definition `PaginatedRequestParams`."""

    _meta: NotRequired[dict[str, Any]]
    cursor: NotRequired[str]


class PaginatedResult(TypedDict):
    """The definition `PaginatedResult`."""

    _meta: NotRequired[dict[str, Any]]
    nextCursor: NotRequired[str]


class PingRequest(TypedDict):
    """The request `ping`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["ping"]
    params: NotRequired[RequestParams]


class ProgressNotification(TypedDict):
    """The notification `notifications/progress`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/progress"]
    params: ProgressNotificationParams


class ProgressNotificationParams(TypedDict):
    """The parameters of `notifications/progress`."""

    _meta: NotRequired[dict[str, Any]]
    message: NotRequired[str]
    progress: float
    progressToken: ProgressToken
    total: NotRequired[float]


class Prompt(TypedDict):
    """The definition `Prompt`."""

    _meta: NotRequired[dict[str, Any]]
    arguments: NotRequired[list[PromptArgument]]
    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    name: str
    title: NotRequired[str]


class PromptArgument(TypedDict):
    """The definition `PromptArgument`."""

    description: NotRequired[str]
    name: str
    required: NotRequired[bool]
    title: NotRequired[str]


class PromptListChangedNotification(TypedDict):
    """The notification `notifications/prompts/list_changed`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/prompts/list_changed"]
    params: NotRequired[NotificationParams]


class PromptMessage(TypedDict):
    """The definition `PromptMessage`."""

    content: ContentBlock
    role: Role


class PromptReference(TypedDict):
    """The definition `PromptReference`."""

    name: str
    title: NotRequired[str]
    type: Literal["ref/prompt"]


class ReadResourceRequest(TypedDict):
    """The request `resources/read`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["resources/read"]
    params: ReadResourceRequestParams


class ReadResourceRequestParams(TypedDict):
    """The parameters of `resources/read`."""

    _meta: NotRequired[dict[str, Any]]
    uri: str


class ReadResourceResult(TypedDict):
    """The result of `resources/read`."""

    _meta: NotRequired[dict[str, Any]]
    contents: list[TextResourceContents | BlobResourceContents]


class RelatedTaskMetadata(TypedDict):
    """The definition `RelatedTaskMetadata`."""

    taskId: str


class Request(TypedDict):
    """The definition `Request`."""

    method: str
    params: NotRequired[dict[str, Any]]


class RequestParams(TypedDict):
    """The definition `RequestParams`."""

    _meta: NotRequired[dict[str, Any]]


class Resource(TypedDict):
    """The definition `Resource`."""

    _meta: NotRequired[dict[str, Any]]
    annotations: NotRequired[Annotations]
    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    mimeType: NotRequired[str]
    name: str
    size: NotRequired[int]
    title: NotRequired[str]
    uri: str


class ResourceContents(TypedDict):
    """The definition `ResourceContents`."""

    _meta: NotRequired[dict[str, Any]]
    mimeType: NotRequired[str]
    uri: str


class ResourceLink(TypedDict):
    """The definition `ResourceLink`."""

    _meta: NotRequired[dict[str, Any]]
    annotations: NotRequired[Annotations]
    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    mimeType: NotRequired[str]
    name: str
    size: NotRequired[int]
    title: NotRequired[str]
    type: Literal["resource_link"]
    uri: str


class ResourceListChangedNotification(TypedDict):
    """The notification `notifications/resources/list_changed`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/resources/list_changed"]
    params: NotRequired[NotificationParams]


class ResourceRequestParams(TypedDict):
    """The definition `ResourceRequestParams`."""

    _meta: NotRequired[dict[str, Any]]
    uri: str


class ResourceTemplate(TypedDict):
    """The definition `ResourceTemplate`."""

    _meta: NotRequired[dict[str, Any]]
    annotations: NotRequired[Annotations]
    description: NotRequired[str]
    icons: NotRequired[list[Icon]]
    mimeType: NotRequired[str]
    name: str
    title: NotRequired[str]
    uriTemplate: str


class ResourceTemplateReference(TypedDict):
    """The definition `ResourceTemplateReference`."""

    type: Literal["ref/resource"]
    uri: str


class ResourceUpdatedNotification(TypedDict):
    """The notification `notifications/resources/updated`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/resources/updated"]
    params: ResourceUpdatedNotificationParams


class ResourceUpdatedNotificationParams(TypedDict):
    """The parameters of `notifications/resources/updated`."""

    _meta: NotRequired[dict[str, Any]]
    uri: str


class Result(TypedDict):
    """The definition `Result`."""

    _meta: NotRequired[dict[str, Any]]


class Root(TypedDict):
    """The definition `Root`."""

    _meta: NotRequired[dict[str, Any]]
    name: NotRequired[str]
    uri: str


class RootsListChangedNotification(TypedDict):
    """The notification `notifications/roots/list_changed`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/roots/list_changed"]
    params: NotRequired[NotificationParams]


class SamplingMessage(TypedDict):
    """The definition `SamplingMessage`."""

    _meta: NotRequired[dict[str, Any]]
    content: (
        TextContent
        | ImageContent
        | AudioContent
        | ToolUseContent
        | ToolResultContent
        | list[SamplingMessageContentBlock]
    )
    role: Role


class ServerCapabilitiesPrompts(TypedDict):
    """The member `prompts` of `ServerCapabilities`."""

    listChanged: NotRequired[bool]


class ServerCapabilitiesResources(TypedDict):
    """The member `resources` of `ServerCapabilities`."""

    listChanged: NotRequired[bool]
    subscribe: NotRequired[bool]


class ServerCapabilitiesTasksRequestsTools(TypedDict):
    """The member `tools` of `ServerCapabilitiesTasksRequests`."""

    call: NotRequired[dict[str, Any]]


class ServerCapabilitiesTasksRequests(TypedDict):
    """The member `requests` of `ServerCapabilitiesTasks`."""

    tools: NotRequired[ServerCapabilitiesTasksRequestsTools]


class ServerCapabilitiesTasks(TypedDict):
    """The member `tasks` of `ServerCapabilities`."""

    cancel: NotRequired[dict[str, Any]]
    list: NotRequired[dict[str, Any]]
    requests: NotRequired[ServerCapabilitiesTasksRequests]


class ServerCapabilitiesTools(TypedDict):
    """The member `tools` of `ServerCapabilities`."""

    listChanged: NotRequired[bool]


class ServerCapabilities(TypedDict):
    """The definition `ServerCapabilities`."""

    completions: NotRequired[dict[str, Any]]
    experimental: NotRequired[dict[str, dict[str, Any]]]
    logging: NotRequired[dict[str, Any]]
    prompts: NotRequired[ServerCapabilitiesPrompts]
    resources: NotRequired[ServerCapabilitiesResources]
    tasks: NotRequired[ServerCapabilitiesTasks]
    tools: NotRequired[ServerCapabilitiesTools]


class SetLevelRequest(TypedDict):
    """The request `logging/setLevel`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["logging/setLevel"]
    params: SetLevelRequestParams


class SetLevelRequestParams(TypedDict):
    """The parameters of `logging/setLevel`."""

    _meta: NotRequired[dict[str, Any]]
    level: LoggingLevel


class StringSchema(TypedDict):
    """The definition `StringSchema`."""

    default: NotRequired[str]
    description: NotRequired[str]
    format: NotRequired[Literal["date", "date-time", "email", "uri"]]
    maxLength: NotRequired[int]
    minLength: NotRequired[int]
    title: NotRequired[str]
    type: Literal["string"]


class SubscribeRequest(TypedDict):
    """The request `resources/subscribe`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["resources/subscribe"]
    params: SubscribeRequestParams


class SubscribeRequestParams(TypedDict):
    """The parameters of `resources/subscribe`."""

    _meta: NotRequired[dict[str, Any]]
    uri: str


class Task(TypedDict):
    """The definition `Task`."""

    createdAt: str
    lastUpdatedAt: str
    pollInterval: NotRequired[int]
    status: TaskStatus
    statusMessage: NotRequired[str]
    taskId: str
    ttl: int | None


class TaskAugmentedRequestParams(TypedDict):
    """The definition `TaskAugmentedRequestParams`."""

    _meta: NotRequired[dict[str, Any]]
    task: NotRequired[TaskMetadata]


class TaskMetadata(TypedDict):
    """The definition `TaskMetadata`."""

    ttl: NotRequired[int]


class TaskStatusNotification(TypedDict):
    """The notification `notifications/tasks/status`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/tasks/status"]
    params: TaskStatusNotificationParams


class TaskStatusNotificationParams(TypedDict):
    """The parameters of `notifications/tasks/status`."""

    _meta: NotRequired[dict[str, Any]]
    createdAt: str
    lastUpdatedAt: str
    pollInterval: NotRequired[int]
    status: TaskStatus
    statusMessage: NotRequired[str]
    taskId: str
    ttl: int | None


class TextContent(TypedDict):
    """The definition `TextContent`."""

    _meta: NotRequired[dict[str, Any]]
    annotations: NotRequired[Annotations]
    text: str
    type: Literal["text"]


class TextResourceContents(TypedDict):
    """The definition `TextResourceContents`."""

    _meta: NotRequired[dict[str, Any]]
    mimeType: NotRequired[str]
    text: str
    uri: str


class TitledMultiSelectEnumSchemaItemsAnyOf(TypedDict):
    """The member `anyOf` of `TitledMultiSelectEnumSchemaItems`."""

    const: str
    title: str


class TitledMultiSelectEnumSchemaItems(TypedDict):
    """The member `items` of `TitledMultiSelectEnumSchema`."""

    anyOf: list[TitledMultiSelectEnumSchemaItemsAnyOf]


class TitledMultiSelectEnumSchema(TypedDict):
    """The definition `TitledMultiSelectEnumSchema`."""

    default: NotRequired[list[str]]
    description: NotRequired[str]
    items: TitledMultiSelectEnumSchemaItems
    maxItems: NotRequired[int]
    minItems: NotRequired[int]
    title: NotRequired[str]
    type: Literal["array"]


class TitledSingleSelectEnumSchemaOneOf(TypedDict):
    """The member `oneOf` of `TitledSingleSelectEnumSchema`."""

    const: str
    title: str


class TitledSingleSelectEnumSchema(TypedDict):
    """The definition `TitledSingleSelectEnumSchema`."""

    default: NotRequired[str]
    description: NotRequired[str]
    oneOf: list[TitledSingleSelectEnumSchemaOneOf]
    title: NotRequired[str]
    type: Literal["string"]


class Tool(TypedDict):
    """The definition `Tool`."""

    _meta: NotRequired[dict[str, Any]]
    annotations: NotRequired[ToolAnnotations]
    description: NotRequired[str]
    execution: NotRequired[ToolExecution]
    icons: NotRequired[list[Icon]]
    inputSchema: dict[str, Any]
    name: str
    outputSchema: NotRequired[dict[str, Any]]
    title: NotRequired[str]


class ToolAnnotations(TypedDict):
    """The definition `ToolAnnotations`."""

    destructiveHint: NotRequired[bool]
    idempotentHint: NotRequired[bool]
    openWorldHint: NotRequired[bool]
    readOnlyHint: NotRequired[bool]
    title: NotRequired[str]


class ToolChoice(TypedDict):
    """The definition `ToolChoice`."""

    mode: NotRequired[Literal["auto", "none", "required"]]


class ToolExecution(TypedDict):
    """The definition `ToolExecution`."""

    taskSupport: NotRequired[Literal["forbidden", "optional", "required"]]


class ToolListChangedNotification(TypedDict):
    """The notification `notifications/tools/list_changed`."""

    jsonrpc: Literal["2.0"]
    method: Literal["notifications/tools/list_changed"]
    params: NotRequired[NotificationParams]


class ToolResultContent(TypedDict):
    """The definition `ToolResultContent`."""

    _meta: NotRequired[dict[str, Any]]
    content: list[ContentBlock]
    isError: NotRequired[bool]
    structuredContent: NotRequired[dict[str, Any]]
    toolUseId: str
    type: Literal["tool_result"]


class ToolUseContent(TypedDict):
    """The definition `ToolUseContent`."""

    _meta: NotRequired[dict[str, Any]]
    id: str
    input: dict[str, Any]
    name: str
    type: Literal["tool_use"]


class URLElicitationRequiredErrorErrorData(TypedDict):
    """The member `data` of `URLElicitationRequiredErrorError`."""

    elicitations: list[ElicitRequestURLParams]


class URLElicitationRequiredErrorError(TypedDict):
    """The member `error` of `URLElicitationRequiredError`."""

    code: Literal[-32042]
    data: URLElicitationRequiredErrorErrorData
    message: str


class URLElicitationRequiredError(TypedDict):
    """The definition `URLElicitationRequiredError`."""

    error: URLElicitationRequiredErrorError
    id: NotRequired[RequestId]
    jsonrpc: Literal["2.0"]


class UnsubscribeRequest(TypedDict):
    """The request `resources/unsubscribe`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: Literal["resources/unsubscribe"]
    params: UnsubscribeRequestParams


class UnsubscribeRequestParams(TypedDict):
    """The parameters of `resources/unsubscribe`."""

    _meta: NotRequired[dict[str, Any]]
    uri: str


class UntitledMultiSelectEnumSchemaItems(TypedDict):
    """The member `items` of `UntitledMultiSelectEnumSchema`."""

    enum: list[str]
    type: Literal["string"]


class UntitledMultiSelectEnumSchema(TypedDict):
    """The definition `UntitledMultiSelectEnumSchema`."""

    default: NotRequired[list[str]]
    description: NotRequired[str]
    items: UntitledMultiSelectEnumSchemaItems
    maxItems: NotRequired[int]
    minItems: NotRequired[int]
    title: NotRequired[str]
    type: Literal["array"]


class UntitledSingleSelectEnumSchema(TypedDict):
    """The definition `UntitledSingleSelectEnumSchema`."""

    default: NotRequired[str]
    description: NotRequired[str]
    enum: list[str]
    title: NotRequired[str]
    type: Literal["string"]


ClientNotification: TypeAlias = (
    CancelledNotification
    | InitializedNotification
    | ProgressNotification
    | TaskStatusNotification
    | RootsListChangedNotification
)


ClientRequest: TypeAlias = (
    InitializeRequest
    | PingRequest
    | ListResourcesRequest
    | ListResourceTemplatesRequest
    | ReadResourceRequest
    | SubscribeRequest
    | UnsubscribeRequest
    | ListPromptsRequest
    | GetPromptRequest
    | ListToolsRequest
    | CallToolRequest
    | GetTaskRequest
    | GetTaskPayloadRequest
    | CancelTaskRequest
    | ListTasksRequest
    | SetLevelRequest
    | CompleteRequest
)


ClientResult: TypeAlias = (
    Result
    | GetTaskResult
    | GetTaskPayloadResult
    | CancelTaskResult
    | ListTasksResult
    | CreateMessageResult
    | ListRootsResult
    | ElicitResult
)


ContentBlock: TypeAlias = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


Cursor: TypeAlias = str


ElicitRequestParams: TypeAlias = ElicitRequestURLParams | ElicitRequestFormParams


EmptyResult: TypeAlias = Result


EnumSchema: TypeAlias = (
    UntitledSingleSelectEnumSchema
    | TitledSingleSelectEnumSchema
    | UntitledMultiSelectEnumSchema
    | TitledMultiSelectEnumSchema
    | LegacyTitledEnumSchema
)


JSONRPCMessage: TypeAlias = JSONRPCRequest | JSONRPCNotification | JSONRPCResultResponse | JSONRPCErrorResponse


JSONRPCResponse: TypeAlias = JSONRPCResultResponse | JSONRPCErrorResponse


LoggingLevel: TypeAlias = Literal["alert", "critical", "debug", "emergency", "error", "info", "notice", "warning"]


MultiSelectEnumSchema: TypeAlias = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema


PrimitiveSchemaDefinition: TypeAlias = (
    StringSchema
    | NumberSchema
    | BooleanSchema
    | UntitledSingleSelectEnumSchema
    | TitledSingleSelectEnumSchema
    | UntitledMultiSelectEnumSchema
    | TitledMultiSelectEnumSchema
    | LegacyTitledEnumSchema
)


ProgressToken: TypeAlias = str | int


RequestId: TypeAlias = str | int


Role: TypeAlias = Literal["assistant", "user"]


SamplingMessageContentBlock: TypeAlias = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent


ServerNotification: TypeAlias = (
    CancelledNotification
    | ProgressNotification
    | ResourceListChangedNotification
    | ResourceUpdatedNotification
    | PromptListChangedNotification
    | ToolListChangedNotification
    | TaskStatusNotification
    | LoggingMessageNotification
    | ElicitationCompleteNotification
)


ServerRequest: TypeAlias = (
    PingRequest
    | GetTaskRequest
    | GetTaskPayloadRequest
    | CancelTaskRequest
    | ListTasksRequest
    | CreateMessageRequest
    | ListRootsRequest
    | ElicitRequest
)


ServerResult: TypeAlias = (
    Result
    | InitializeResult
    | ListResourcesResult
    | ListResourceTemplatesResult
    | ReadResourceResult
    | ListPromptsResult
    | GetPromptResult
    | ListToolsResult
    | CallToolResult
    | GetTaskResult
    | GetTaskPayloadResult
    | CancelTaskResult
    | ListTasksResult
    | CompleteResult
)


SingleSelectEnumSchema: TypeAlias = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema


TaskStatus: TypeAlias = Literal["cancelled", "completed", "failed", "input_required", "working"]


ElicitRequestFormParamsRequestedSchema = TypedDict(
    "ElicitRequestFormParamsRequestedSchema",
    {
        "$schema": "NotRequired[str]",
        "properties": "dict[str, PrimitiveSchemaDefinition]",
        "required": "NotRequired[list[str]]",
        "type": 'Literal["object"]',
    },
)
"""The member `requestedSchema` of `ElicitRequestFormParams`."""
