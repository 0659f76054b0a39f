namespace NBomber.Contracts.Stats;

public enum ReportFormat
{
    Txt = 0,
    Html = 1,
    Csv = 2,
    Md = 3,
}

public enum OperationType
{
    None = 0,
    Init = 1,
    WarmUp = 2,
    Bombing = 3,
    Stop = 4,
    Complete = 5,
    Error = 6,
}

public sealed class TestInfo
{
    public string SessionId { get; set; } = null!;

    public string TestSuite { get; set; } = null!;

    public string TestName { get; set; } = null!;

    public string ClusterId { get; set; } = null!;

    public DateTime Created { get; set; }
}

public sealed class NodeInfo
{
    public string MachineName { get; set; } = null!;

    public OperationType CurrentOperation { get; set; }

    public string OS { get; set; } = null!;

    public string DotNetVersion { get; set; } = null!;

    public string Processor { get; set; } = null!;

    public int CoresCount { get; set; }

    public string NBomberVersion { get; set; } = null!;
}

public sealed class ReportFile
{
    public string FilePath { get; set; } = null!;

    public ReportFormat ReportFormat { get; set; }

    public string ReportContent { get; set; } = null!;
}
