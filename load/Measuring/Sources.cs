using Billing.Reporting;

namespace Billing.Measuring;

/// <summary>Somebody else's work whose figures stand beside ours, as JSON too; the names are part of the interface.</summary>
/// <param name="Title">Its title.</param>
/// <param name="Authors">Its authors.</param>
/// <param name="Kind">What it is, and where it was published; <c>unpublished</c> where that is not known.</param>
/// <param name="Year">When; null where it does not say.</param>
/// <param name="Figures">Which of its tables the figures are from.</param>
internal sealed record Source(string Title, string Authors, string Kind, int? Year, string Figures)
{
    /// <summary>All of it in one sentence.</summary>
    public string Citation => $"{Authors}: \"{Title}\", {Kind}, {Year?.ToString(System.Globalization.CultureInfo.InvariantCulture) ?? "undated"}. {Figures}.";

    /// <summary>What a page that shows its figures says of it.</summary>
    public Fact Fact() => new("Paper", Citation);
}

/// <summary>The five works that measurements are held against. What one does not say of itself is not filled in from elsewhere.
/// </summary>
internal static class Sources
{
    /// <summary>The billing prototype.</summary>
    public static Source Prototype { get; } = new(
        "Billing Service Prototype with Kafka Middleware", "Dan Morgan, Mazhar Abbass, Siddharth Joshi", "unpublished student report", null,
        "Section Evaluation, its two tables, which have no numbers: the first without jitter, the second with");

    /// <summary>The thesis on CQRS and event sourcing.</summary>
    public static Source Thesis { get; } = new(
        "Scalable Architecture of Cloud Application Based on CQRS and Event Sourcing", "Andrzej Dębski, Bartłomiej Szczepanik",
        "master's thesis, AGH University of Science and Technology, Krakow", 2015, "Table 6.2 for reads, Table 6.3, lower load, for writes");

    /// <summary>The study of event-driven against API-driven.</summary>
    public static Source EventDriven { get; } = new(
        "Event-Driven Architecture to Improve Performance and Scalability in Microservices-Based Systems",
        "Alam Rahmatulloh, Fuji Nugraha, Rohmat Gunawan, Irfan Darmawan", "conference paper", 2022,
        "The averages of Table IV for response time, Table V for errors, Table VI for CPU");

    /// <summary>The study of RPCX, known from a copy that begins with its introduction.</summary>
    public static Source Rpcx { get; } = new(
        "RPCX, a microservice communication technology (as it calls itself; the copy at hand has no title)", "Authors not named on the copy at hand",
        "publication not known", null, "The ranges that its text gives for Table 3, time, and Table 4, TPS");

    /// <summary>The ICE lab's report on REST and HIVE.</summary>
    public static Source IceLab { get; } = new(
        "REST APIs Development and Performance Evaluation on the ICELab Kubernetes-based Architecture", "Fabio Chiarani",
        "unpublished student report", null, "Table I, tests 12 (one core) and 28 (16 cores)");
}
