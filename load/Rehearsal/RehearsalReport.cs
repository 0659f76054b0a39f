using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.Measuring;
using Billing.Rehearsal.Listening;
using Billing.Rehearsal.Network;
using Billing.Rehearsal.Steps;

namespace Billing.Rehearsal;

/// <summary>The figures and findings of a rehearsal as JSON; the names are part of the interface.</summary>
internal sealed class RehearsalReport
{
    private static readonly JsonSerializerOptions SerializerOptions = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
        WriteIndented = true,
        NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals,
    };

    public required Machine Machine { get; init; }

    /// <summary>The release that was installed first.</summary>
    public string Release { get; set; } = "";

    /// <summary>The release that it was upgraded to.</summary>
    public string NextRelease { get; set; } = "";

    /// <summary>Latency of a packet from zone to zone, in milliseconds.</summary>
    public required double ZoneDelayMs { get; init; }

    /// <summary>Number of payments that each client sent at once.</summary>
    public required int Requests { get; init; }

    /// <summary>The source of the prototype's figures, which are printed beside the bursts.</summary>
    public Source Source { get; init; } = Sources.Prototype;
    public AccessFindings? Access { get; set; }

    /// <summary>What an eavesdropper on the router heard, from the first machine's boot to the end.</summary>
    public ListeningFindings? Listening { get; set; }

    /// <summary>The clients' measurements, by run.</summary>
    public List<LoadRun> Runs { get; } = [];

    /// <summary>Memory use of each service after the first burst.</summary>
    public List<MemoryUse> Memory { get; } = [];

    /// <summary>Bytes on the disks at the end.</summary>
    public List<DiskUse> Disks { get; } = [];

    /// <summary>The audit's counts, as printed.</summary>
    public string Audit { get; set; } = "";
    public List<StepTime> Steps { get; } = [];

    /// <summary>The findings: everything that is not as expected.</summary>
    public List<string> Amiss { get; } = [];

    public async Task WriteAsync(string path)
    {
        await using var file = File.Create(path);
        await JsonSerializer.SerializeAsync(file, this, SerializerOptions);
    }
}

internal sealed record StepTime(string Step, double Seconds);
