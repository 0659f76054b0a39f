using Billing.Reporting;

namespace Billing.Measuring;

/// <summary>A publication whose figures are shown next to the measured ones, also as JSON;
/// the names are part of the interface.</summary>
/// <param name="Kind">Its kind and the place of publication; <c>unpublished</c> if that is unknown.</param>
/// <param name="Year">The year of publication; null if it states none.</param>
/// <param name="Figures">The tables from which the figures are taken.</param>
internal sealed record Source(string Title, string Authors, string Kind, int? Year, string Figures)
{
    /// <summary>The citation as one sentence.</summary>
    public string Citation =>
        $"{Authors}: \"{Title}\", {Kind}, "
        + $"{Year?.ToString(System.Globalization.CultureInfo.InvariantCulture) ?? "undated"}. {Figures}.";

    /// <summary>The citation for a page that shows its figures.</summary>
    public Fact Fact() => new("Paper", Citation);
}

/// <summary>The five publications that measurements are compared with. Details that a publication does not state
/// itself are left out.</summary>
internal static class Sources
{
    /// <summary>The billing prototype.</summary>
    public static Source Prototype { get; } = new(
        "Billing Service Prototype with Kafka Middleware", "Dan Morgan, Mazhar Abbass, Siddharth Joshi",
        "unpublished student report", null,
        "Section Evaluation, its two tables, which have no numbers: the first without jitter, the second with");

    /// <summary>The thesis on CQRS and event sourcing.</summary>
    public static Source Thesis { get; } = new(
        "Scalable Architecture of Cloud Application Based on CQRS and Event Sourcing",
        "Andrzej Dębski, Bartłomiej Szczepanik", "master's thesis, AGH University of Science and Technology, Krakow",
        2015, "Table 6.2 for reads, Table 6.3, lower load, for writes");

    /// <summary>The study that compares event-driven with API-driven architecture.</summary>
    public static Source EventDriven { get; } = new(
        "Event-Driven Architecture to Improve Performance and Scalability in Microservices-Based Systems",
        "Alam Rahmatulloh, Fuji Nugraha, Rohmat Gunawan, Irfan Darmawan", "conference paper", 2022,
        "The averages of Table IV for response time, Table V for errors, Table VI for CPU");

    /// <summary>The study of RPCX; the available copy begins with the introduction.</summary>
    public static Source Rpcx { get; } = new(
        "RPCX, a microservice communication technology (from its text; the available copy has no title)",
        "Authors not named in the available copy", "publication unknown", null,
        "The ranges that its text gives for Table 3, time, and Table 4, TPS");

    /// <summary>The ICE lab's report on REST and HIVE.</summary>
    public static Source IceLab { get; } = new(
        "REST APIs Development and Performance Evaluation on the ICELab Kubernetes-based Architecture",
        "Fabio Chiarani", "unpublished student report", null, "Table I, tests 12 (one core) and 28 (16 cores)");
}
