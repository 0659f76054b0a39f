using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Billing.Reporting;

/// <summary>Results as they are kept in a file of JSON.</summary>
internal interface IResultFormat
{
    /// <summary>The value of the member <c>kind</c>.</summary>
    string Kind { get; }

    /// <summary>The report of results that were read.</summary>
    /// <exception cref="JsonException">They are not of the kind.</exception>
    Report ReportOf(JsonElement results);
}

/// <summary>How results of one kind are kept and shown.</summary>
/// <param name="kind">The value of the member <c>kind</c>.</param>
/// <param name="json">How they are kept.</param>
/// <param name="page">How they are shown, but for what every page says.</param>
internal sealed class ResultFormat<T>(string kind, JsonTypeInfo<T> json, Func<T, Report> page) : IResultFormat
{
    public string Kind => kind;

    /// <summary>How they are kept.</summary>
    public JsonTypeInfo<T> Json => json;

    /// <summary>How they are shown.</summary>
    public Report Page(T results) => FailedRequests.StatedIn(page(results), results is ILatencies latencies ? latencies.Failed : 0);

    public Report ReportOf(JsonElement results) => Page(results.Deserialize(json)!);
}
